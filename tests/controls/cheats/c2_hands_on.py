"""C2: PyTorch's operator does the task, a kernel hands on what it computed.

task: softmax
verdict: DELEGATED (compute)
"""

import torch
import triton
import triton.language as tl


@triton.jit
def _copy(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n), mask=i < n)


def softmax(x, dim):
    y = torch.softmax(x, dim).contiguous()
    out = torch.empty_like(y)
    if y.numel():
        _copy[(triton.cdiv(y.numel(), 256),)](y, out, y.numel(), BLOCK=256)
    return out
