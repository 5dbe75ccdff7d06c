"""input_tensor ** exponent: one read of each, one write. Tensors that are broadcast are written out first.

Whole numbers up to 4 as exponents are products, of the reciprocal for negative ones; others are left to libdevice.
"""

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def product_kernel(x_ptr, y_ptr, n, N: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=1.0).to(tl.float32)
    if N < 0:
        x = 1.0 / x
    y = tl.full((BLOCK,), 1.0, tl.float32)
    for _ in tl.static_range(N if N > 0 else -N):
        y *= x
    tl.store(y_ptr + offsets, y.to(y_ptr.dtype.element_ty), mask=offsets < n)


@triton.jit
def pow_kernel(x_ptr, exponent_ptr, y_ptr, n, number, NUMBER: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=1.0).to(tl.float32)
    if NUMBER:
        exponent = tl.full((BLOCK,), number, tl.float32)
    else:
        exponent = tl.load(exponent_ptr + offsets, mask=offsets < n, other=1.0).to(tl.float32)
    tl.store(y_ptr + offsets, libdevice.pow(x, exponent).to(y_ptr.dtype.element_ty), mask=offsets < n)


def pow(input_tensor, exponent, out=None):
    number = not isinstance(exponent, torch.Tensor)
    x, e = (input_tensor, input_tensor) if number else torch.broadcast_tensors(input_tensor, exponent)
    x, e = x.contiguous(), e.contiguous()
    direct = out is not None and out.is_contiguous()
    y = out if direct else torch.empty_like(x)
    n = x.numel()
    if n and number and exponent in range(-4, 5):
        block, warps = 1024, 8 if y.element_size() > 2 else 4  # 16 bytes a thread
        product_kernel[(triton.cdiv(n, block),)](x, y, n, int(exponent), BLOCK=block, num_warps=warps)
    elif n:
        value = float(exponent) if number else 1.0
        pow_kernel[(triton.cdiv(n, 1024),)](x, e, y, n, value, number, BLOCK=1024, num_warps=8)
    return y if direct or out is None else out.copy_(y)
