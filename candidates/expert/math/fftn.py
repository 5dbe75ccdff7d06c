"""Fourier transform, dimension by dimension, by the mixed-radix algorithm of Stockham, which sorts as it goes.

A dimension of length N = r1 r2 ... takes a pass over memory for every factor r, of at most 16 unless it is prime. With
p the product of the factors before and the tensor seen as (outer, N, inner), a pass takes for 0 <= j < N / r the r
elements j + t N / r, turns them by exp(-2 pi i t k / (p r)) with k = j mod p, multiplies them by the r x r Fourier
matrix, and writes result a to (j - k) r + k + a p. The pairs (j, inner) lie in memory as one and are the columns of a
matrix product, to which three of TF32 give float32's accuracy. The matrix is computed on the way, so that a large prime
r, too, is only r operations an element.

The first pass over a dimension reads the tensor as it was, cut or padded; the last pass of all scales.
"""

import math

import torch
import triton
import triton.language as tl


@triton.jit
def unit(part, whole):
    """exp(-2 pi i part / whole) as cosine and sine, for 0 <= part < whole."""
    turn = part.to(tl.float32) / whole
    angle = -6.283185307179586 * tl.where(turn > 0.5, turn - 1.0, turn)
    return tl.cos(angle), tl.sin(angle)


@triton.jit(do_not_specialize=["r"])
def pass_kernel(
    x_ptr, y_ptr, columns, r, p, inner, length, source_length, held, scale,
    REAL: tl.constexpr, INDEX: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """length = N / r * inner; of every source_length elements of the input the first `held` are read."""
    column = tl.program_id(0).to(INDEX) * COLUMNS + tl.arange(0, COLUMNS)
    outer, e = column // length, column % length
    j = e // inner
    k = j % p
    a = tl.program_id(1).to(INDEX) * ROWS + tl.arange(0, ROWS)
    real = tl.zeros((ROWS, COLUMNS), tl.float32)
    imag = tl.zeros((ROWS, COLUMNS), tl.float32)
    for start in range(0, r, ROWS):
        t = start + tl.arange(0, ROWS).to(INDEX)
        at = t[:, None] * length + e[None, :]
        inside = (t < r)[:, None] & (column < columns)[None, :] & (at < held)
        source = x_ptr + (outer[None, :] * source_length + at) * (1 if REAL else 2)
        cos, sin = unit(t[:, None] * k[None, :], (r * p).to(tl.float32))
        if REAL:
            u = tl.load(source, mask=inside, other=0.0)
            turned_real, turned_imag = u * cos, u * sin
        else:
            pairs = source[:, :, None] + tl.arange(0, 2)[None, None, :]
            u, v = tl.split(tl.load(pairs, mask=inside[:, :, None], other=0.0))
            turned_real, turned_imag = u * cos - v * sin, u * sin + v * cos
        cos, sin = unit(a[:, None] * t[None, :] % r, r.to(tl.float32))
        real = tl.dot(cos, turned_real, real, input_precision="tf32x3")
        real = tl.dot(-sin, turned_imag, real, input_precision="tf32x3")
        imag = tl.dot(cos, turned_imag, imag, input_precision="tf32x3")
        imag = tl.dot(sin, turned_real, imag, input_precision="tf32x3")
    first = outer * length * r + (j - k) * (r - 1) * inner + e  # e - j * inner is the place among the inner ones
    target = first[None, :] + a[:, None] * p * inner
    pairs = y_ptr + target[:, :, None] * 2 + tl.arange(0, 2)[None, None, :]
    inside = (a < r)[:, None] & (column < columns)[None, :]
    tl.store(pairs, tl.join(real * scale, imag * scale), mask=inside[:, :, None])


def factors(N):
    """Factors of N, of at most 16 unless prime: each prime goes into the first product that has room for it."""
    primes, d = [], 2
    while N > 1:
        if d * d > N:
            d = N
        while N % d == 0:
            primes.append(d)
            N //= d
        d += 1
    products = []
    for prime in reversed(primes):
        room = [n for n, product in enumerate(products) if product * prime <= 16]
        if room:
            products[room[0]] *= prime
        else:
            products.append(prime)
    return products or [1]


def fftn(input, s=None, dim=None, norm=None, out=None):
    x = input.contiguous()
    dims = range(-len(s) if s is not None else -x.dim(), 0) if dim is None else dim
    dims = [d % x.dim() for d in dims]
    lengths = [x.shape[d] if n == -1 else n for d, n in zip(dims, s or [-1] * len(dims), strict=True)]
    shape = list(x.shape)
    passes = [(d, N, r) for d, N in zip(dims, lengths, strict=True) for r in factors(N)]
    total = math.prod(lengths)
    scales = {None: 1.0, "backward": 1.0, "forward": 1.0 / total, "ortho": total**-0.5}
    p = 1
    for number, (d, N, r) in enumerate(passes):
        before, inner = shape[d], math.prod(shape[d + 1 :])
        shape[d] = N
        last = number == len(passes) - 1
        direct = last and out is not None and out.is_contiguous()
        y = out if direct else torch.empty(shape, dtype=torch.complex64, device=x.device)
        columns, length = y.numel() // r, N // r * inner
        rows = max(16, min(32, triton.next_power_of_2(r)))
        tile = min(max(16, triton.next_power_of_2(columns)), 2048 // rows)
        real = not x.is_complex()
        index = tl.int32 if max(x.numel(), y.numel(), r * r) < 2**30 else tl.int64
        pass_kernel[(triton.cdiv(columns, tile), triton.cdiv(r, rows))](
            x if real else torch.view_as_real(x), torch.view_as_real(y), columns, r, p, inner, length,
            before * inner, min(before, N) * inner, scales[norm] if last else 1.0, real, index, rows, tile, num_warps=8,
        )  # fmt: skip
        x = y
        p = p * r if not last and passes[number + 1][0] == d else 1
    return y if out is None or direct else out.copy_(y)
