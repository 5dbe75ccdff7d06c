"""Floor: one read, one write. 16-bit numbers are rounded down as float32, which is exact."""

import torch
import triton
import triton.language as tl


@triton.jit
def floor_kernel(x_ptr, y_ptr, n, FLOAT: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    y = tl.load(x_ptr + offsets, mask=offsets < n)
    if FLOAT:
        y = tl.floor(y.to(tl.float32))
    tl.store(y_ptr + offsets, y.to(y_ptr.dtype.element_ty), mask=offsets < n)


def floor(input, out=None):
    x = input.contiguous()
    direct = out is not None and out.is_contiguous()
    y = out if direct else torch.empty_like(x)
    n = x.numel()
    if n:
        block, warps = 1024, 8 if y.element_size() > 2 else 4  # 16 bytes a thread
        floor_kernel[(triton.cdiv(n, block),)](x, y, n, x.is_floating_point(), BLOCK=block, num_warps=warps)
    return y if direct or out is None else out.copy_(y)
