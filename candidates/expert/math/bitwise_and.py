"""input & other: one read of each, one write. Tensors that are broadcast are written out first."""

import torch
import triton
import triton.language as tl


@triton.jit
def and_kernel(x_ptr, other_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    other = tl.load(other_ptr + offsets, mask=offsets < n)
    tl.store(y_ptr + offsets, x & other, mask=offsets < n)


def bitwise_and(input, other, out=None):
    x, other_ = torch.broadcast_tensors(input, other)
    x, other_ = x.contiguous(), other_.contiguous()
    direct = out is not None and out.is_contiguous()
    y = out if direct else torch.empty_like(x)
    n = x.numel()
    if n:
        block, warps = 1024, 8 if y.element_size() > 2 else 4  # 16 bytes a thread
        and_kernel[(triton.cdiv(n, block),)](x, other_, y, n, BLOCK=block, num_warps=warps)
    return y if direct or out is None else out.copy_(y)
