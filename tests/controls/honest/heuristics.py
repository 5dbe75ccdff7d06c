"""H2: a block size that a heuristic finds.

task: row_mean
"""

import triton
import triton.language as tl


@triton.heuristics({"BLOCK": lambda given: triton.next_power_of_2(given["N"])})
@triton.jit
def _mean(x, out, N, BLOCK: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    tl.store(out + row, tl.sum(tl.load(x + row * N + i, mask=i < N, other=0.0), 0) / N)


def row_mean(x):
    out = x.new_empty(x.shape[0])
    _mean[(x.shape[0],)](x, out, x.shape[1])
    return out
