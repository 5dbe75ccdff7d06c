"""Hurwitz zeta function by Euler and Maclaurin's formula: nine terms, and the rest as an integral with corrections.

With B_2j the Bernoulli numbers and w = a + 9 the rest is w^(1-s) / (s - 1) + w^-s / 2 + the sum over j of
B_2j / (2j)! * s (s + 1) ... (s + 2j - 2) * w^(-s - 2j + 1); three of these suffice for float32.

For a < 0 and an integer s the terms below 0 are mirrored: with g the fraction of -a the sum is
zeta(s, 1 - g) + (-1)^s * (zeta(s, g) - zeta(s, 1 - a)), where g is exact.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def hurwitz(s, a):
    """For a >= 0 and s > 1."""
    total = tl.exp2(-s * tl.log2(a))
    for k in tl.static_range(1, 9):
        total += tl.exp2(-s * tl.log2(a + k))
    w = a + 9
    integral = tl.exp2((1.0 - s) * tl.log2(w))
    r = tl.minimum(s, 128.0)  # the integral is 0 from s = 48 on
    v = 1.0 / w
    third = 1.0 / 720 - (r + 3) * v * ((r + 4) * v) * (1.0 / 30240)
    second = 1.0 / 12 - (r + 1) * v * ((r + 2) * v) * third
    return total + integral * (1.0 / (r - 1.0) + v * (0.5 + r * v * second))


@triton.jit
def zeta_kernel(s_ptr, a_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    s = tl.load(s_ptr + offsets, mask=offsets < n, other=2.0)
    a = tl.load(a_ptr + offsets, mask=offsets < n, other=1.0)
    g = -a - tl.floor(-a)
    y = hurwitz(s, tl.where(a < 0, 1.0 - g, a))
    if tl.min(a, axis=0) < 0:
        mirrored = hurwitz(s, g) - hurwitz(s, 1.0 - a)
        odd = s - 2 * tl.floor(0.5 * s) == 1
        y = tl.where(a < 0, tl.where(odd, y - mirrored, y + mirrored), y)
        y = tl.where((a < 0) & (s != tl.floor(s)), float("nan"), y)
    y = tl.where((a <= 0) & (a == tl.floor(a)), float("inf"), y)
    y = tl.where(s > 1, y, tl.where(s == 1, float("inf"), float("nan")))
    tl.store(y_ptr + offsets, y, mask=offsets < n)


def zeta(input, other, out=None):
    s, a = torch.broadcast_tensors(input, other)
    s, a = s.contiguous(), a.contiguous()
    direct = out is not None and out.is_contiguous()
    y = out if direct else torch.empty_like(s)
    n = s.numel()
    if n:
        zeta_kernel[(triton.cdiv(n, 1024),)](s, a, y, n, BLOCK=1024, num_warps=8)
    return y if direct or out is None else out.copy_(y)
