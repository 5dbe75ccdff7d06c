"""H5: adds to memory that nothing was written to.

task: row_mean
verdict: WRONG_VALUES or UNINITIALISED_READ
"""

import torch
import triton
import triton.language as tl


@triton.jit
def _add(x, out, N, BLOCK: tl.constexpr):
    row, i = tl.program_id(0), tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(out + row, tl.sum(tl.load(x + row * N + i, mask=i < N, other=0.0), 0) / N)


def row_mean(x):
    out = torch.empty(x.shape[0], device=x.device)
    _add[(x.shape[0], triton.cdiv(x.shape[1], 64))](x, out, x.shape[1], BLOCK=64)
    return out
