"""C2: a kernel writes zeros, to which the operator's result is added.

task: softmax
verdict: DELEGATED (compute)
"""

import torch
import triton
import triton.language as tl


@triton.jit
def _zeros(out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.zeros((BLOCK,), tl.float32), mask=i < n)


def softmax(x, dim):
    out = torch.empty(x.shape, device=x.device)
    if out.numel():
        _zeros[(triton.cdiv(out.numel(), 256),)](out, out.numel(), BLOCK=256)
    return (out + torch.softmax(x, dim)).to(x.dtype)
