"""H12: launch options written out.

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
    grid = (triton.cdiv(x.numel(), 256), 1, 1)
    _relu[grid](x, out, x.numel(), BLOCK=256, num_warps=2, num_stages=3, num_ctas=1)
    return out
