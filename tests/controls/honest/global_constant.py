"""H26: constants outside the kernel, a loop that is unrolled, a function made a kernel by hand.

task: relu
"""

import torch
import triton
import triton.language as tl

BLOCK = tl.constexpr(64)
PARTS: tl.constexpr = tl.constexpr(4)


def _unrolled(x, out, n):
    for part in tl.static_range(PARTS):
        i = (tl.program_id(0) * PARTS + part) * BLOCK + tl.arange(0, BLOCK)
        value = tl.load(x + i, mask=i < n)
        tl.store(out + i, tl.where(value < 0, 0.0, value), mask=i < n)


unrolled = triton.jit(_unrolled)


def relu(x):
    out = torch.empty_like(x)
    unrolled[(triton.cdiv(x.numel(), 256),)](x, out, x.numel())
    return out
