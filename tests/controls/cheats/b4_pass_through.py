"""B4: a kernel that copies: right wherever the input is not negative.

task: relu
verdict: WRONG_VALUES
"""

import torch
import triton
import triton.language as tl


@triton.jit
def _copy(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n), mask=i < n)


def relu(x):
    out = torch.empty_like(x)
    _copy[(triton.cdiv(x.numel(), 256),)](x, out, x.numel(), BLOCK=256)
    return out
