"""Fourier transform, dimension by dimension, by the mixed-radix algorithm of Stockham, which sorts as it goes.

A dimension of length N = r1 r2 ... takes a pass over memory for every factor r, of at most 16 or 256 unless prime. With
p the product of the factors before and the tensor seen as (outer, N, inner), a pass takes for 0 <= j < N / r the r
elements j + t N / r, turns them by exp(-2 pi i t k / (p r)) with k = j mod p, multiplies them by the r x r Fourier
matrix, and writes result a to (j - k) r + k + a p. The pairs (j, inner) lie in memory as one and are the columns of a
matrix product, to which three of TF32 give float32's accuracy. The matrix is computed on the way, so that a large prime
r, too, is only r operations an element. For r = 256 = 16 * 16 this is done twice while the elements are at hand: with
t = 16 t1 + t2 and a = a1 + 16 a2, by the 16 x 16 matrix along t1, a turn by exp(-2 pi i t2 a1 / 256), and along t2.

The first pass over a dimension reads the tensor as it was, cut or padded; the last pass of all scales.
"""

import math

import torch
import triton
import triton.language as tl


@triton.jit
def unit(part, whole):
    """exp(-2 pi i part / whole) as cosine and sine, for 0 <= part < whole: Taylor series about the nearest quarter."""
    turn = part.to(tl.float32) / whole
    quarter = tl.floor(4.0 * turn + 0.5)
    x = 6.283185307179586 * (turn - 0.25 * quarter)
    x2 = x * x
    sin = x + x * x2 * (-1 / 6 + x2 * (1 / 120 + x2 * (-1 / 5040 + x2 * (1 / 362880))))
    cos = 1.0 + x2 * (-1 / 2 + x2 * (1 / 24 + x2 * (-1 / 720 + x2 * (1 / 40320 + x2 * (-1 / 3628800)))))
    odd = (quarter == 1.0) | (quarter == 3.0)
    sin, cos = tl.where(odd, cos, sin), tl.where(odd, sin, cos)
    cos = tl.where((quarter == 1.0) | (quarter == 2.0), -cos, cos)
    return cos, tl.where((quarter == 2.0) | (quarter == 3.0), sin, -sin)


@triton.jit
def turned(u, v, cos, sin):
    return u * cos - v * sin, u * sin + v * cos


@triton.jit
def product(cos, sin, u, v, real, imag):
    """real + i imag plus the matrix cos + i sin times u + i v."""
    real = tl.dot(cos, u, real, input_precision="tf32x3")
    real = tl.dot(-sin, v, real, input_precision="tf32x3")
    imag = tl.dot(cos, v, imag, input_precision="tf32x3")
    return real, tl.dot(sin, u, imag, input_precision="tf32x3")


@triton.jit
def loaded(source, inside, REAL: tl.constexpr):
    if REAL:
        u = tl.load(source, mask=inside, other=0.0)
        v = tl.zeros_like(u)
    else:
        pairs = source[:, :, None] + tl.arange(0, 2)[None, None, :]
        u, v = tl.split(tl.load(pairs, mask=inside[:, :, None], other=0.0))
    return u, v


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
        u, v = loaded(source, inside, REAL)
        u, v = turned(u, v, cos, sin)
        cos, sin = unit(a[:, None] * t[None, :] % r, r.to(tl.float32))
        real, imag = product(cos, sin, u, v, real, imag)
    first = outer * length * r + (j - k) * (r - 1) * inner + e  # e - j * inner is the place among the inner ones
    target = first[None, :] + a[:, None] * p * inner
    pairs = y_ptr + target[:, :, None] * 2 + tl.arange(0, 2)[None, None, :]
    inside = (a < r)[:, None] & (column < columns)[None, :]
    tl.store(pairs, tl.join(real * scale, imag * scale), mask=inside[:, :, None])


@triton.jit
def pass_256_kernel(
    x_ptr, y_ptr, columns, p, inner, length, source_length, held, scale,
    REAL: tl.constexpr, TURN: tl.constexpr, INDEX: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """pass_kernel for r = 256; without TURN p is 1."""
    column = tl.program_id(0).to(INDEX) * COLUMNS + tl.arange(0, COLUMNS)
    outer, e = column // length, column % length
    j = e // inner
    k = j % p
    t = tl.arange(0, 256).to(INDEX)
    n = tl.arange(0, 16)
    at = t[:, None] * length + e[None, :]
    inside = (column < columns)[None, :] & (at < held)
    u, v = loaded(x_ptr + (outer[None, :] * source_length + at) * (1 if REAL else 2), inside, REAL)
    u, v = tl.reshape(u, (16, 16, COLUMNS)), tl.reshape(v, (16, 16, COLUMNS))
    if TURN:
        cos, sin = unit(n[:, None] * k[None, :], (p * 16).to(tl.float32))
        u, v = turned(u, v, cos[:, None, :], sin[:, None, :])
    nothing = tl.zeros((16, 16 * COLUMNS), tl.float32)
    matrix_cos, matrix_sin = unit(n[:, None] * n[None, :] % 16, 16.0)
    u, v = tl.reshape(u, (16, 16 * COLUMNS)), tl.reshape(v, (16, 16 * COLUMNS))
    u, v = product(matrix_cos, matrix_sin, u, v, nothing, nothing)
    u, v = tl.reshape(u, (16, 16, COLUMNS)), tl.reshape(v, (16, 16, COLUMNS))
    cos, sin = unit(n[:, None] * n[None, :], 256.0)
    u, v = turned(u, v, cos[:, :, None], sin[:, :, None])
    if TURN:
        cos, sin = unit(n[:, None] * k[None, :], (p * 256).to(tl.float32))
        u, v = turned(u, v, cos[None, :, :], sin[None, :, :])
    u = tl.reshape(tl.permute(u, (1, 0, 2)), (16, 16 * COLUMNS))
    v = tl.reshape(tl.permute(v, (1, 0, 2)), (16, 16 * COLUMNS))
    u, v = product(matrix_cos, matrix_sin, u, v, nothing, nothing)
    u, v = tl.reshape(u, (256, COLUMNS)), tl.reshape(v, (256, COLUMNS))
    target = (outer * length * 256 + (j - k) * 255 * inner + e)[None, :] + t[:, None] * p * inner
    pairs = y_ptr + target[:, :, None] * 2 + tl.arange(0, 2)[None, None, :]
    tl.store(pairs, tl.join(u * scale, v * scale), mask=(column < columns)[None, :, None])


def factors(N):
    """Factors of N, of 256, or at most 16 unless prime: a prime goes into the first product that has room for it."""
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
    pairs = products.count(16) // 2
    return [256] * pairs + [16] * (products.count(16) % 2) + [r for r in products if r != 16] or [1]


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
        real = not x.is_complex()
        index = tl.int32 if max(x.numel(), y.numel(), r * r) < 2**30 else tl.int64
        tensors = x if real else torch.view_as_real(x), torch.view_as_real(y)
        sizes = inner, length, before * inner, min(before, N) * inner, scales[norm] if last else 1.0
        if r == 256:
            tile = min(8, triton.next_power_of_2(columns))
            pass_256_kernel[(triton.cdiv(columns, tile),)](*tensors, columns, p, *sizes, real, p > 1, index, tile)
        else:
            rows = max(16, min(32, triton.next_power_of_2(r)))
            tile = min(max(16, triton.next_power_of_2(columns)), 2048 // rows)
            pass_kernel[(triton.cdiv(columns, tile), triton.cdiv(r, rows))](
                *tensors, columns, r, p, *sizes, real, index, rows, tile, num_warps=8
            )
        x = y
        p = p * r if not last and passes[number + 1][0] == d else 1
    return y if out is None or direct else out.copy_(y)
