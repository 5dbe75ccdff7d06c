"""log(|Gamma(x)|) by libdevice: one read, one write."""

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def gammaln_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=1.0).to(tl.float32)
    y = libdevice.lgamma(x)
    tl.store(y_ptr + offsets, y.to(y_ptr.dtype.element_ty), mask=offsets < n)


def gammaln(input, out=None):
    x = input.contiguous()
    direct = out is not None and out.is_contiguous()
    y = out if direct else torch.empty_like(x)
    n = x.numel()
    if n:
        gammaln_kernel[(triton.cdiv(n, 1024),)](x, y, n, BLOCK=1024, num_warps=8)
    return y if direct or out is None else out.copy_(y)
