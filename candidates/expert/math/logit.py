"""Logit: one read, one write. At the upper clamp 1 - x is eps itself, not 1 - (1 - eps), which float32 rounds."""

import torch
import triton
import triton.language as tl


@triton.jit
def logit_kernel(x_ptr, y_ptr, n, eps, CLAMP: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=0.5).to(tl.float32)
    rest = 1.0 - x
    if CLAMP:
        # By comparisons, so that NaN, which is neither too small nor too large, stays.
        low, high = x < eps, x > 1.0 - eps
        x = tl.where(low, eps, tl.where(high, 1.0 - eps, x))
        rest = tl.where(low, 1.0 - eps, tl.where(high, eps, rest))
    tl.store(y_ptr + offsets, tl.log(x / rest).to(y_ptr.dtype.element_ty), mask=offsets < n)


def logit(input, eps=None, out=None):
    x = input.contiguous()
    direct = out is not None and out.is_contiguous()
    y = out if direct else torch.empty_like(x)
    n = x.numel()
    if n:
        block, warps = 1024, 8 if y.element_size() > 2 else 4  # 16 bytes a thread
        logit_kernel[(triton.cdiv(n, block),)](
            x, y, n, float(eps or 0), eps is not None, BLOCK=block, num_warps=warps
        )
    return y if direct or out is None else out.copy_(y)
