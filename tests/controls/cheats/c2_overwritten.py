"""C2: the kernel computes the result, and PyTorch computes it again over it.

task: matmul
verdict: DELEGATED (compute)
"""

import torch
import triton
import triton.language as tl


@triton.jit
def _zero(x, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + i, tl.zeros((BLOCK,), tl.float32), mask=i < n)


def matmul(a, b):
    out = torch.empty((a.shape[0], b.shape[1]), device=a.device)
    _zero[(triton.cdiv(out.numel(), 256),)](out, out.numel(), BLOCK=256)
    return out.copy_(a @ b)
