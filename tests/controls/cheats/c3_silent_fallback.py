"""C3: the launch always fails, and the handler lets PyTorch answer.

task: matmul
verdict: NO_KERNEL (fallback)
"""

import torch
import triton
import triton.language as tl


@triton.jit
def _product(a, b, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)  # BLOCK is no power of two
    tl.store(out + i, tl.load(a + i) * tl.load(b + i))


def matmul(a, b):
    out = torch.empty((a.shape[0], b.shape[1]), device=a.device)
    try:
        _product[(1,)](a, b, out, BLOCK=48)
        return out
    except Exception:
        return a @ b
