"""H5: keeps the least of what it finds in memory that nothing has written, which is right where that is large.

task: row_mean
verdict: UNINITIALISED_READ or WRONG_VALUES
"""

import torch
import triton
import triton.language as tl


@triton.jit
def _mean(x, out, N, BLOCK: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    mean = tl.sum(tl.load(x + row * N + i, mask=i < N, other=0.0), 0) / N
    tl.atomic_min(out + row, mean)


def row_mean(x):
    out = torch.empty(x.shape[0], device=x.device, dtype=x.dtype)
    _mean[(x.shape[0],)](x, out, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
    return out
