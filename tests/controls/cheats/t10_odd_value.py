"""T10: a value beside the result that a judge might unpickle.

task: relu
verdict: WRONG_OUTPUT
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


class Rider:
    pass


def relu(x):
    out = _launch(x, torch.empty_like(x))
    out.rider = Rider()
    return out, Rider()
