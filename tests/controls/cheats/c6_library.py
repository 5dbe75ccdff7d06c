"""C6: a library that happens to be installed does the work.

task: relu
verdict: FORBIDDEN (import)
"""

import sympy
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


def relu(x):
    values = [sympy.Max(value, 0) for value in x.flatten().tolist()]
    return torch.tensor([float(value) for value in values]).view(x.shape)
