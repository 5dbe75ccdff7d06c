"""Polygamma functions: n = 0 is digamma, n > 0 is (-1)^(n+1) n! zeta(n + 1, x), one read and one write.

zeta(s, a), the sum over k of (a + k)^-s, is five terms and the rest by Euler and Maclaurin's formula, as an integral
with corrections from w = a + 5 on. The factor n! goes into the bases, as c^s, lest powers leave float32's range. For
a < 0 the terms below 0 are mirrored: with g the fraction of -a, which is exact, the sum is
zeta(s, 1 - g) + (-1)^s * (zeta(s, g) - zeta(s, 1 - a)).

Digamma is its asymptotic series from 6 on, whose first neglected term is 1 / (240 * 6^8) = 2.5e-9; smaller arguments
are moved there, and negative ones reflected: digamma(x) = digamma(1 - x) + pi / tan(pi * g).
"""

import math

import torch
import triton
import triton.language as tl


@triton.jit
def power(x, N: tl.constexpr):
    y = x
    for _ in tl.static_range(N - 1):
        y *= x
    return y


@triton.jit
def hurwitz(a, c, S: tl.constexpr):
    """c^S zeta(S, a) for a >= 0 and S > 1."""
    total = power(c / a, S)
    for k in tl.static_range(1, 5):
        total += power(c / (a + k), S)
    v = 1.0 / (a + 5)
    second: tl.constexpr = S * (S + 1) * (S + 2) / 720
    third: tl.constexpr = S * (S + 1) * (S + 2) * (S + 3) * (S + 4) / 30240
    corrections = v * (0.5 + v * (S / 12 - v * v * (second - v * v * third)))
    return total + c * power(c * v, S - 1) * (1.0 / (S - 1) + corrections)


@triton.jit
def polygamma_kernel(x_ptr, y_ptr, n, c, S: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=1.0).to(tl.float32)
    g = -x - tl.floor(-x)
    y = hurwitz(tl.where(x < 0, 1.0 - g, x), c, S)
    if tl.min(x, axis=0) < 0:
        mirrored = hurwitz(g, c, S) - hurwitz(1.0 - x, c, S)
        y = tl.where(x < 0, y + mirrored if S % 2 == 0 else y - mirrored, y)
    y = tl.where((x <= 0) & (x == tl.floor(x)), float("inf"), y)
    tl.store(y_ptr + offsets, (y if S % 2 == 0 else -y).to(y_ptr.dtype.element_ty), mask=offsets < n)


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
        g = -x - tl.floor(-x)
        g = 3.141592653589793 * tl.where(g > 0.5, g - 1.0, g)
        reflected = y + 3.141592653589793 * tl.cos(g) / tl.sin(g)
        y = tl.where(x < 0, tl.where(g == 0, float("nan"), reflected), y)
    tl.store(y_ptr + offsets, y.to(y_ptr.dtype.element_ty), mask=offsets < n)


def polygamma(n, input, *, out=None):
    if n < 0:
        raise RuntimeError(f"polygamma(n, x) does not support negative n, but n is {n}")
    x = input.contiguous()
    direct = out is not None and out.is_contiguous()
    y = out if direct else torch.empty_like(x)
    count = x.numel()
    if count and n == 0:
        digamma_kernel[(triton.cdiv(count, 1024),)](x, y, count, BLOCK=1024, num_warps=8)
    elif count:
        c = math.exp(math.lgamma(n + 1) / (n + 1))
        polygamma_kernel[(triton.cdiv(count, 1024),)](x, y, count, c, n + 1, BLOCK=1024, num_warps=8)
    return y if direct or out is None else out.copy_(y)
