"""x * 180 / pi and sqrt(x), in one pass."""

import torch
import triton
import triton.language as tl


@triton.jit
def rad2deg_sqrt_kernel(x_ptr, degrees_ptr, root_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n).to(tl.float32)
    tl.store(degrees_ptr + offsets, (x * 57.29577951308232).to(degrees_ptr.dtype.element_ty), mask=offsets < n)
    tl.store(root_ptr + offsets, tl.sqrt(x).to(root_ptr.dtype.element_ty), mask=offsets < n)


def rad2deg_sqrt(input):
    x = input.contiguous()
    degrees, root = torch.empty_like(x), torch.empty_like(x)
    n = x.numel()
    if n:
        block, warps = 1024, 8 if x.element_size() > 2 else 4  # 16 bytes a thread
        rad2deg_sqrt_kernel[(triton.cdiv(n, block),)](x, degrees, root, n, BLOCK=block, num_warps=warps)
    return degrees, root
