"""Sign bits and bits in common, in one pass: the float is read once, as a number and as an integer."""

import torch
import triton
import triton.language as tl


@triton.jit
def signbit_and_kernel(x_ptr, other_ptr, sign_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=0.0)
    other = tl.load(other_ptr + offsets, mask=offsets < n).to(tl.int8)
    tl.store(sign_ptr + offsets, x.to(tl.int32, bitcast=True) < 0, mask=offsets < n)
    tl.store(y_ptr + offsets, x.to(tl.int32).to(tl.int8) & other, mask=offsets < n)


def signbit_bitwise_and(input, other):
    x, other = input.contiguous(), other.contiguous()
    sign = torch.empty(x.shape, dtype=torch.bool, device=x.device)
    y = torch.empty(x.shape, dtype=torch.int8, device=x.device)
    n = x.numel()
    if n:
        block, warps = 1024, 8 if y.element_size() > 2 else 4  # 16 bytes a thread
        signbit_and_kernel[(triton.cdiv(n, block),)](x, other, sign, y, n, BLOCK=block, num_warps=warps)
    return sign, y
