"""H3: a kernel that calls other functions under @triton.jit, one of them through another.

task: relu
"""

import torch
import triton
import triton.language as tl


@triton.jit
def _is_negative(value):
    return value < 0


@triton.jit
def _clip(value):
    return tl.where(_is_negative(value), 0.0, value)


@triton.jit
def _kernel(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, _clip(tl.load(x + i, mask=i < n)), mask=i < n)


def relu(x):
    out = torch.empty_like(x)
    _kernel[(triton.cdiv(x.numel(), 256),)](x, out, x.numel(), BLOCK=256)
    return out
