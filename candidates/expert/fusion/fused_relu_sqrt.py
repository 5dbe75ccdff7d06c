"""sqrt(max(x, 0)): one read, one write; integers become float32 first."""

import torch
import triton
import triton.language as tl


@triton.jit
def relu_sqrt_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n).to(tl.float32)
    y = tl.sqrt_rn(tl.where(x < 0.0, 0.0, x))  # unlike tl.maximum this keeps NaN
    tl.store(y_ptr + offsets, y, mask=offsets < n)


def fused_relu_sqrt(input, inplace=False, out=None):
    target = input if inplace and input.is_floating_point() else out
    x = input.contiguous()
    direct = target is not None and target.is_contiguous()
    y = target if direct else torch.empty_like(x, dtype=torch.float32)
    n = x.numel()
    if n:
        block, warps = 1024, 8 if y.element_size() > 2 else 4  # 16 bytes a thread
        relu_sqrt_kernel[(triton.cdiv(n, block),)](x, y, n, BLOCK=block, num_warps=warps)
    return y if direct or target is None else target.copy_(y)
