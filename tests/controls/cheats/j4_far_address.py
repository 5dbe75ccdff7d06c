"""J4: writes far outside every tensor, which a GPU reports at some later call.

task: relu
verdict: OUT_OF_BOUNDS or RUNTIME_ERROR
"""

import torch
import triton
import triton.language as tl


@triton.jit
def _far(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i + (1 << 40), tl.load(x + i, mask=i < n), mask=i < n)


def relu(x):
    out = torch.empty_like(x)
    _far[(triton.cdiv(x.numel(), 256),)](x, out, x.numel(), BLOCK=256)
    return out
