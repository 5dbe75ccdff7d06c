"""Cosine and its sign bit: one read, two writes. tl.cos reduces large angles exactly; no finite angle gives 0."""

import torch
import triton
import triton.language as tl


@triton.jit
def cos_signbit_kernel(x_ptr, y_ptr, sign_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    y = tl.cos(tl.load(x_ptr + offsets, mask=offsets < n).to(tl.float32))
    tl.store(y_ptr + offsets, y.to(y_ptr.dtype.element_ty), mask=offsets < n)
    tl.store(sign_ptr + offsets, y < 0, mask=offsets < n)


def fused_cos_signbit(input):
    x = input.contiguous()
    y, sign = torch.empty_like(x), torch.empty(x.shape, dtype=torch.bool, device=x.device)
    n = x.numel()
    if n:
        block, warps = 1024, 8 if y.element_size() > 2 else 4  # 16 bytes a thread
        cos_signbit_kernel[(triton.cdiv(n, block),)](x, y, sign, n, BLOCK=block, num_warps=warps)
    return y, sign
