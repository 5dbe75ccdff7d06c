"""input * other in bfloat16, multiplied as float32 and rounded once: one read of each, one write.

Tensors that are broadcast are written out first.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def mul_kernel(x_ptr, other_ptr, y_ptr, n, number, NUMBER: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n).to(tl.float32)
    other = number if NUMBER else tl.load(other_ptr + offsets, mask=offsets < n).to(tl.float32)
    tl.store(y_ptr + offsets, (x * other).to(y_ptr.dtype.element_ty), mask=offsets < n)


def mul_bf16(input, other, out=None):
    number = not isinstance(other, torch.Tensor)
    x, other_ = (input, input) if number else torch.broadcast_tensors(input, other)
    x, other_ = x.contiguous(), other_.contiguous()
    direct = out is not None and out.is_contiguous()
    y = out if direct else torch.empty_like(x)
    n = x.numel()
    if n:
        value = float(other) if number else 1.0
        block, warps = 1024, 8 if y.element_size() > 2 else 4  # 16 bytes a thread
        mul_kernel[(triton.cdiv(n, block),)](x, other_, y, n, value, number, BLOCK=block, num_warps=warps)
    return y if direct or out is None else out.copy_(y)
