"""Largest singular value by repeated squaring: no iteration whose speed depends on the gap to the second largest.

B = A^T A has the eigenvalues s^2, and the trace of B^m, m = 2^22, is that of the largest one, times a number between 1
and N whose 2 m-th root is 1 within 1e-6. B is divided by its trace before every squaring; the logarithms of the traces
add up to that of the result. A rounding error of the k-th squaring counts 2^-k in it.

Up to 64 x 64 one program does it all; beyond that every squaring is a launch.
"""

import torch
import triton
import triton.language as tl

SQUARINGS = 22


@triton.jit
def positive(x):
    """x, 1 in place of 0: a divisor for a matrix that is 0."""
    return tl.where(x == 0.0, 1.0, x)


@triton.jit
def small_kernel(a_ptr, y_ptr, N, stride_b, stride_m, stride_n, SQUARINGS: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)[:, None]
    j = tl.arange(0, BLOCK)[None, :]
    batch = tl.program_id(0).to(tl.int64)
    a = tl.load(a_ptr + batch * stride_b + i * stride_m + j * stride_n, mask=(i < N) & (j < N), other=0.0)
    top = tl.max(tl.max(tl.abs(a), axis=1), axis=0)
    a = a / positive(top)  # no overflow in the squares
    b = tl.dot(tl.trans(a), a, input_precision="ieee")
    logarithm = 0.0
    weight = 0.5
    for _ in range(0, SQUARINGS):
        trace = positive(tl.sum(tl.sum(tl.where(i == j, b, 0.0), axis=1), axis=0))
        logarithm += weight * tl.log(trace)
        weight *= 0.5
        b = b / trace
        b = tl.dot(b, b, input_precision="ieee")
    trace = positive(tl.sum(tl.sum(tl.where(i == j, b, 0.0), axis=1), axis=0))
    tl.store(y_ptr + batch, top * tl.exp(logarithm + weight * tl.log(trace)))


@triton.jit
def top_kernel(a_ptr, tops_ptr, N, stride_b, stride_m, stride_n, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    """Largest absolute values of ROWS rows each."""
    row = tl.program_id(1) * ROWS + tl.arange(0, ROWS)[:, None].to(tl.int64)
    a_ptr += tl.program_id(0).to(tl.int64) * stride_b
    top = tl.zeros((ROWS, COLUMNS), tl.float32)
    for start in range(0, N, COLUMNS):
        column = start + tl.arange(0, COLUMNS)[None, :].to(tl.int64)
        a = tl.load(a_ptr + row * stride_m + column * stride_n, mask=(row < N) & (column < N), other=0.0)
        top = tl.maximum(top, tl.abs(a))
    at = tl.program_id(0).to(tl.int64) * tl.num_programs(1) + tl.program_id(1)
    tl.store(tops_ptr + at, tl.max(tl.max(top, axis=1), axis=0))


@triton.jit
def gathered(x_ptr, count, stride, MAXIMUM: tl.constexpr, BLOCK: tl.constexpr):
    """Maximum or sum of `count` numbers."""
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, count, BLOCK):
        i = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + i.to(tl.int64) * stride, mask=i < count, other=0.0)
        total = tl.maximum(total, x) if MAXIMUM else total + x
    return tl.max(total, axis=0) if MAXIMUM else tl.sum(total, axis=0)


@triton.jit
def square_kernel(
    x_ptr, y_ptr, tops_ptr, result_ptr, N, tops, stride_b, stride_m, stride_n, weight,
    FIRST: tl.constexpr, TILE: tl.constexpr, DEPTH: tl.constexpr,
):  # fmt: skip
    """y = x^T x / divisor^2, divisor being the largest entry of the FIRST x, the trace of others; the logarithms of
    traces are added up in result."""
    batch = tl.program_id(0).to(tl.int64)
    one = (tl.program_id(1) == 0) & (tl.program_id(2) == 0)
    x_ptr += batch * stride_b
    if FIRST:
        divisor = positive(gathered(tops_ptr + batch * tops, tops, 1, True, 128))
        if one:
            tl.store(result_ptr + batch, 0.0)
    else:
        divisor = positive(gathered(x_ptr, N, N + 1, False, 128))
        if one:
            tl.store(result_ptr + batch, tl.load(result_ptr + batch) + weight * tl.log(divisor))
    i = tl.program_id(1) * TILE + tl.arange(0, TILE)
    j = tl.program_id(2) * TILE + tl.arange(0, TILE)
    k = tl.arange(0, DEPTH)
    left_ptrs = x_ptr + i[:, None].to(tl.int64) * stride_n + k[None, :].to(tl.int64) * stride_m
    right_ptrs = x_ptr + j[None, :].to(tl.int64) * stride_n + k[:, None].to(tl.int64) * stride_m
    scale = 1.0 / divisor
    total = tl.zeros((TILE, TILE), tl.float32)
    for start in range(0, N, DEPTH):
        left = tl.load(left_ptrs, mask=(i < N)[:, None] & (k < N - start)[None, :], other=0.0)
        right = tl.load(right_ptrs, mask=(j < N)[None, :] & (k < N - start)[:, None], other=0.0)
        total = tl.dot(left * scale, right * scale, total, input_precision="ieee")
        left_ptrs += DEPTH * stride_m
        right_ptrs += DEPTH * stride_m
    y_ptrs = y_ptr + batch * N * N + i[:, None].to(tl.int64) * N + j[None, :]
    tl.store(y_ptrs, total, mask=(i < N)[:, None] & (j < N)[None, :])


@triton.jit
def finish_kernel(x_ptr, tops_ptr, result_ptr, N, tops, weight):
    batch = tl.program_id(0).to(tl.int64)
    top = gathered(tops_ptr + batch * tops, tops, 1, True, 128)
    trace = positive(gathered(x_ptr + batch * N * N, N, N + 1, False, 128))
    tl.store(result_ptr + batch, top * tl.exp(tl.load(result_ptr + batch) + weight * tl.log(trace)))


def large(a, y):
    batch, N, _ = a.shape
    rows = 8
    tops = torch.empty((batch, triton.cdiv(N, rows)), dtype=torch.float32, device=a.device)
    top_kernel[tops.shape](a, tops, N, *a.stride(), rows, 512)
    b, c = (torch.empty((batch, N, N), dtype=torch.float32, device=a.device) for _ in range(2))
    grid = (batch, triton.cdiv(N, 32), triton.cdiv(N, 32))
    square_kernel[grid](a, b, tops, y, N, tops.shape[1], *a.stride(), 1.0, True, 32, 64)
    weight = 0.5
    for _ in range(SQUARINGS):
        square_kernel[grid](b, c, tops, y, N, tops.shape[1], *b.stride(), weight, False, 32, 64)
        b, c, weight = c, b, weight / 2
    finish_kernel[(batch,)](b, tops, y, N, tops.shape[1], weight)


def spectral_norm_eig(A, *, out=None):
    N = A.shape[-1]
    batch = A.shape[:-2].numel()
    y = torch.empty(batch, dtype=A.dtype, device=A.device)
    if batch:
        a = A.reshape(batch, N, N)
        if N <= 64:
            block = max(16, triton.next_power_of_2(N))
            small_kernel[(batch,)](a, y, N, *a.stride(), SQUARINGS, block, num_warps=block * block // 256)
        else:
            large(a, y)
    y = y.reshape(A.shape[:-2])
    return y if out is None else out.copy_(y)
