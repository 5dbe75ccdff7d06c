"""H27: frees memory before it works, and looks at its own signature.

task: relu
"""

import gc
import inspect

import torch
import triton
import triton.language as tl


@triton.jit
def _relu(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + i, mask=i < n)
    tl.store(out + i, tl.where(value < 0, 0.0, value), mask=i < n)


def relu(x):
    gc.collect()
    out = torch.empty_like(x)
    _relu[(triton.cdiv(x.numel(), 256),)](x, out, x.numel(), BLOCK=256)
    return out


assert list(inspect.signature(relu).parameters) == ["x"]
