"""tanh from one exponential: (1 - t) / (1 + t) with t = exp(-2 |x|), which cannot overflow.

Near zero 1 - t cancels; there the Taylor series up to x^7 is exact to float32 (next term: 62/2835 x^9).
"""

import torch
import triton
import triton.language as tl


@triton.jit
def tanh_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n).to(tl.float32)
    t = tl.exp(-2.0 * tl.abs(x))
    large = (1.0 - t) / (1.0 + t)
    s = x * x
    small = x * (1.0 + s * (-1.0 / 3.0 + s * (2.0 / 15.0 - s * (17.0 / 315.0))))
    y = tl.where(tl.abs(x) < 0.2, small, tl.where(x < 0, -large, large))
    tl.store(y_ptr + offsets, y.to(y_ptr.dtype.element_ty), mask=offsets < n)


def tanh(input_tensor, out_tensor=None):
    x = input_tensor.contiguous()
    direct = out_tensor is not None and out_tensor.is_contiguous()
    y = out_tensor if direct else torch.empty_like(x)
    n = x.numel()
    if n:
        block, warps = 1024, 8 if y.element_size() > 2 else 4  # 16 bytes a thread
        tanh_kernel[(triton.cdiv(n, block),)](x, y, n, BLOCK=block, num_warps=warps)
    return y if direct or out_tensor is None else out_tensor.copy_(y)
