"""H20: a launch that fails is tried again with smaller blocks.

task: relu
"""

import torch
import triton
import triton.language as tl


@triton.jit
def _relu(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + i, mask=i < n)
    tl.store(out + i, tl.where(value < 0, 0.0, value), mask=i < n)


def relu(x):
    out = torch.empty_like(x)
    for block in (96, 256):
        try:
            _relu[(triton.cdiv(x.numel(), block),)](x, out, x.numel(), BLOCK=block)
            return out
        except Exception:  # 96 is no power of two
            if block == 256:
                raise
    return out
