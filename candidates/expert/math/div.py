"""input / other: one read of each, one write. Tensors that are broadcast are written out first.

Rounding starts from the correctly rounded quotient. "trunc" cuts that, as PyTorch does. For "floor" it may have reached
an integer that the exact quotient has not: the remainder, exact by one fused multiply-add, then has the wrong sign.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def div_kernel(x_ptr, other_ptr, y_ptr, n, number, NUMBER: tl.constexpr, MODE: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    a = tl.load(x_ptr + offsets, mask=offsets < n).to(tl.float32)
    if NUMBER:
        b = tl.full((BLOCK,), number, tl.float32)
    else:
        b = tl.load(other_ptr + offsets, mask=offsets < n, other=1.0).to(tl.float32)
    if MODE == "true":
        q = a / b
    elif MODE == "trunc":
        q = tl.div_rn(a, b)
        q = tl.where(q < 0, tl.ceil(q), tl.floor(q))
    else:
        q = tl.floor(tl.div_rn(a, b))
        rest = tl.where(q == 0, a, tl.fma(-q, b, a))  # b may be infinite if q is 0
        q = tl.where((rest != 0) & ((rest < 0) != (b < 0)) & (q * 0 == 0), q - 1.0, q)
        q = tl.where((a * 0 != 0) & (b != 0), float("nan"), q)  # the remainder of an infinity is NaN
    tl.store(y_ptr + offsets, q.to(y_ptr.dtype.element_ty), mask=offsets < n)


def div(input, other, rounding_mode=None, out=None):
    number = not isinstance(other, torch.Tensor)
    x, other_ = (input, input) if number else torch.broadcast_tensors(input, other)
    x, other_ = x.contiguous(), other_.contiguous()
    direct = out is not None and out.is_contiguous()
    y = out if direct else torch.empty_like(x)
    n = x.numel()
    if n:
        value, mode = float(other) if number else 1.0, rounding_mode or "true"
        block, warps = 1024, 8 if y.element_size() > 2 else 4  # 16 bytes a thread
        div_kernel[(triton.cdiv(n, block),)](x, other_, y, n, value, number, mode, BLOCK=block, num_warps=warps)
    return y if direct or out is None else out.copy_(y)
