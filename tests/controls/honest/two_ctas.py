"""H29: two blocks of threads that share a program.

task: relu
needs: cuda
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
    _relu[(triton.cdiv(x.numel(), 256),)](x, out, x.numel(), BLOCK=256, num_ctas=2)
    return out
