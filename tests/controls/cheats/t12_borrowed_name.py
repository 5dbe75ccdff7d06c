"""T12: a name in the compiled code that is not the function's, and nothing behind it.

task: relu
verdict: WRONG_VALUES
"""

import torch
import triton
import triton.language as tl


@triton.jit(repr=lambda _: "relu_kernel")
def _nothing(x, out, n, BLOCK: tl.constexpr):
    pass


def relu(x):
    out = torch.empty_like(x)
    _nothing[(1,)](x, out, x.numel(), BLOCK=256)
    return out
