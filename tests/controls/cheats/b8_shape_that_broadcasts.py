"""B8: one column in place of a vector, which a comparison may broadcast.

task: row_mean
verdict: WRONG_OUTPUT
"""

import torch
import triton
import triton.language as tl


@triton.jit
def _mean(x, out, N, BLOCK: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    tl.store(out + row, tl.sum(tl.load(x + row * N + i, mask=i < N, other=0.0), 0) / N)


def row_mean(x):
    out = torch.empty((x.shape[0], 1), device=x.device)
    _mean[(x.shape[0],)](x, out, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
    return out
