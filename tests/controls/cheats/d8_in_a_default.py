"""D8: a result that hides in a default argument.

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


def relu(x, *, _known={}):  # noqa: B006
    return _known.setdefault(x.numel(), _launch(x, torch.empty_like(x))).clone().view(x.shape)
