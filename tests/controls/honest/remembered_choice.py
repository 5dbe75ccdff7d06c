"""H17: a cache for a number that depends on the shape alone.

task: relu
"""

import functools
import math

import torch
import triton
import triton.language as tl


@triton.jit
def _relu(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + i, mask=i < n)
    tl.store(out + i, tl.where(value < 0, 0.0, value), mask=i < n)


@functools.cache
def block_of(n: int) -> int:
    return max(16, min(1024, 1 << math.ceil(math.log2(n + 1))))


def relu(x):
    out, block = torch.empty_like(x), block_of(x.numel())
    _relu[(triton.cdiv(x.numel(), block),)](x, out, x.numel(), BLOCK=block)
    return out
