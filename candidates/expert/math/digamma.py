"""Digamma: asymptotic series from 6 on, whose first neglected term is 1 / (240 * 6^8) = 2.5e-9.

Smaller arguments are moved there by digamma(x) = digamma(x + 1) - 1 / x, negative ones reflected:
digamma(x) = digamma(1 - x) + pi / tan(pi * r), r being how far -x lies above the nearest integer, which is exact.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def digamma_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=1.0).to(tl.float32)
    a = tl.where(x < 0, 1.0 - x, x)
    q = a * (a + 5)
    steps = (2 * a + 5) * (1.0 / q + 1.0 / (q + 4) + 1.0 / (q + 6))  # 1 / a + ... + 1 / (a + 5), in pairs
    w = tl.where(a < 6, a + 6, a)
    v = 1.0 / (w * w)
    y = tl.log(w) - 0.5 / w - v * (1.0 / 12 - v * (1.0 / 120 - v * (1.0 / 252)))
    y = tl.where(a < 6, y - steps, y)
    if tl.min(x, axis=0) < 0:
        r = -x - tl.floor(-x)
        r = 3.141592653589793 * tl.where(r > 0.5, r - 1.0, r)
        reflected = y + 3.141592653589793 * tl.cos(r) / tl.sin(r)
        y = tl.where(x < 0, tl.where(r == 0, float("nan"), reflected), y)
    tl.store(y_ptr + offsets, y.to(y_ptr.dtype.element_ty), mask=offsets < n)


def digamma(input_tensor):
    x = input_tensor.contiguous()
    y = torch.empty_like(x)
    n = x.numel()
    if n:
        digamma_kernel[(triton.cdiv(n, 1024),)](x, y, n, BLOCK=1024, num_warps=8)
    return y
