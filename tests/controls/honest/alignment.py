"""H25: asks where a tensor lies, to read it in wider pieces.

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
    block = 512 if x.data_ptr() % 16 == 0 else 256
    _relu[(triton.cdiv(x.numel(), block),)](x, out, x.numel(), BLOCK=block)
    return out
