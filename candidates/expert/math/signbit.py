"""Sign bit: the number read as an integer of its size is negative. One read, one write."""

import torch
import triton
import triton.language as tl


@triton.jit
def signbit_kernel(x_ptr, y_ptr, n, INTEGER: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(y_ptr + offsets, x.to(INTEGER, bitcast=True) < 0, mask=offsets < n)


def signbit(input, out=None):
    x = input.contiguous()
    direct = out is not None and out.is_contiguous()
    y = out if direct else torch.empty(x.shape, dtype=torch.bool, device=x.device)
    n = x.numel()
    if n:
        integer = tl.int32 if x.dtype == torch.float32 else tl.int16
        block, warps = 1024, 8 if y.element_size() > 2 else 4  # 16 bytes a thread
        signbit_kernel[(triton.cdiv(n, block),)](x, y, n, integer, BLOCK=block, num_warps=warps)
    return y if direct or out is None else out.copy_(y)
