"""A8: right for as many calls as a check is thought to make, then a copy of the input.

task: relu
verdict: WRONG_VALUES
"""

import torch
import triton
import triton.language as tl


@triton.jit
def _relu(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + i, mask=i < n)
    tl.store(out + i, tl.where(value < 0, 0.0, value), mask=i < n)


def _launch(x, out):
    _relu[(triton.cdiv(x.numel(), 256),)](x, out, x.numel(), BLOCK=256)
    return out


calls = 0


def relu(x):
    global calls
    calls += 1
    out = torch.empty_like(x)
    return _launch(x, out) if calls < 6 else out.copy_(x)
