"""Airy function Ai: Taylor series in the middle, modulus and phase on the left, decay on the right.

With z = 2/3 |x|^(3/2) (Abramowitz and Stegun, 10.4.2 and 10.4.59 f.):

* from -3 to 2, Ai(x) = Ai(0) f(x^3) + Ai'(0) x g(x^3), where terms of f and g have ratios x^3 / ((3k - 1) 3k) and
  x^3 / (3k (3k + 1)); the first neglected term of f is 1.3e-8;
* above, Ai(x) = x^(-1/4) exp(-z) P(1/z), which keeps small values relatively close;
* below, Ai(x) = |x|^(-1/4) (sin(z + pi/4) A(1/z^2) - cos(z + pi/4) B(1/z^2) / z).

P, A and B are smooth, and were interpolated at Chebyshev's nodes: P on z > 1.88, where it is good to 5e-8, and
A / sqrt(2) and B / sqrt(2) on z > 3.46 to 4e-8 and 1.6e-6, B being 12 times smaller than z A at least.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def airy_ai_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n).to(tl.float32)
    cube = x * x * x
    f = 1.0
    g = 1.0
    for k in tl.static_range(10, 0, -1):
        f = 1.0 + f * cube * (1.0 / ((3 * k - 1) * 3 * k))
        g = 1.0 + g * cube * (1.0 / (3 * k * (3 * k + 1)))
    middle = 0.3550280538878172 * f - 0.2588194037928068 * x * g
    root = tl.sqrt(tl.abs(x))
    z = tl.abs(x) * root * (2.0 / 3.0)
    fourth = tl.rsqrt(root)
    t = 1.0 / z
    p = 0.282094781 - t * (0.0195879747 - t * (0.0104127027 - t * (0.00991279612 - t * (
        0.0107562194 - t * (0.00891632905 - t * 0.00360736017)))))  # fmt: skip
    right = fourth * tl.exp(-z) * p
    s = t * t
    a = 0.398942266 - s * (0.0148054337 - s * (0.0220630178 - s * (0.0753559135 - s * 0.195410813)))
    b = 0.0277042749 - s * (0.0151261246 - s * (0.0429150305 - s * (0.193835651 - s * 0.561922788)))
    left = fourth * (tl.sin(z) * (a + t * b) + tl.cos(z) * (a - t * b))
    y = tl.where(x > 2, right, tl.where(x < -3, left, middle))
    tl.store(y_ptr + offsets, y.to(y_ptr.dtype.element_ty), mask=offsets < n)


def airy_ai(input, out=None):
    x = input.contiguous()
    direct = out is not None and out.is_contiguous()
    y = out if direct else torch.empty_like(x)
    n = x.numel()
    if n:
        airy_ai_kernel[(triton.cdiv(n, 1024),)](x, y, n, BLOCK=1024, num_warps=8)
    return y if direct or out is None else out.copy_(y)
