"""B6: a softmax that does not take the maximum off first, and overflows.

task: softmax
verdict: WRONG_VALUES
"""

import torch
import triton
import triton.language as tl


@triton.jit
def _softmax(x, out, N, sm, sn, BLOCK: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    value = tl.load(x + row * sm + i * sn, mask=i < N, other=-float("inf"))
    power = tl.exp(value)
    tl.store(out + row * sm + i * sn, power / tl.sum(power, 0), mask=i < N)


def softmax(x, dim):
    rows, cols, sm, sn = (*x.shape, *x.stride()) if dim % 2 else (*x.shape[::-1], *x.stride()[::-1])
    out = torch.empty_like(x)
    _softmax[(rows,)](x, out, cols, sm, sn, BLOCK=triton.next_power_of_2(cols))
    return out
