"""A tiled product into a buffer, then log-softmax along any dimension of it.

Where there are too few tiles to fill a GPU, long sums are cut into parts, which the second launch adds up as it reads;
the first part holds the bias. Otherwise the buffer has the type of the inputs. Slices of up to 8192 elements stay in
registers; longer ones are read twice: once for maximum and sum together, rescaling the sum when the maximum grows, and
once to write. float32 is multiplied in three TF32 products, as exact as float32.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def linear_kernel(
    x_ptr, w_ptr, b_ptr, sums_ptr, M, N, K, part, x_m, x_k, w_n, w_k, b_n,
    BIAS: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    """sums [parts, M, N]: the parts of x @ w.T + bias."""
    # Programs walk down eight tiles before they step right, so that those that run together share what L2 holds.
    tiles_m, tiles_n = tl.cdiv(M, BM), tl.cdiv(N, BN)
    first = tl.program_id(0) // (8 * tiles_n) * 8
    height = tl.minimum(tiles_m - first, 8)
    m = (first + tl.program_id(0) % (8 * tiles_n) % height).to(tl.int64) * BM + tl.arange(0, BM)
    n = (tl.program_id(0) % (8 * tiles_n) // height).to(tl.int64) * BN + tl.arange(0, BN)
    i = tl.program_id(1).to(tl.int64)
    k = tl.arange(0, BK)
    x_ptrs = x_ptr + i * part * x_k + m[:, None] * x_m + k[None, :] * x_k
    w_ptrs = w_ptr + i * part * w_k + n[None, :] * w_n + k[:, None] * w_k
    length = tl.minimum(K - tl.program_id(1) * part, part)
    total = tl.zeros((BM, BN), tl.float32)
    for start in range(0, length, BK):
        x = tl.load(x_ptrs, mask=(m < M)[:, None] & (k < length - start)[None, :], other=0.0)
        w = tl.load(w_ptrs, mask=(k < length - start)[:, None] & (n < N)[None, :], other=0.0)
        total = tl.dot(x, w, total, input_precision="tf32x3")
        x_ptrs += BK * x_k
        w_ptrs += BK * w_k
    if BIAS:
        total += tl.load(b_ptr + n * b_n, mask=(n < N) & (i == 0), other=0.0).to(tl.float32)[None, :]
    sums_ptrs = sums_ptr + i * M * N + m[:, None] * N + n[None, :]
    tl.store(sums_ptrs, total.to(sums_ptr.dtype.element_ty), mask=(m < M)[:, None] & (n < N)[None, :])


@triton.jit
def summed(sums_ptr, at, inside, size, parts):
    """Elements `at` of x @ w.T + bias, -inf outside."""
    x = tl.load(sums_ptr + at, mask=inside, other=-float("inf")).to(tl.float32)
    for i in range(1, parts):
        x += tl.load(sums_ptr + i.to(tl.int64) * size + at, mask=inside, other=0.0).to(tl.float32)
    return x


@triton.jit
def whole_kernel(sums_ptr, y_ptr, slices, L, inner, size, parts, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, COLUMNS)
    at = (row // inner * L * inner + row % inner)[:, None] + column[None, :].to(tl.int64) * inner
    inside = (row < slices)[:, None] & (column < L)[None, :]
    x = summed(sums_ptr, at, inside, size, parts)
    x -= tl.max(x, axis=1)[:, None]
    y = x - tl.log(tl.sum(tl.exp(x), axis=1))[:, None]
    tl.store(y_ptr + at, y.to(y_ptr.dtype.element_ty), mask=inside)


@triton.jit
def long_kernel(sums_ptr, y_ptr, slices, L, inner, size, parts, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    base = (row // inner * L * inner + row % inner)[:, None]
    top = tl.full((ROWS,), -float("inf"), tl.float32)
    total = tl.zeros((ROWS,), tl.float32)
    for start in range(0, L, COLUMNS):
        column = start + tl.arange(0, COLUMNS)
        inside = (row < slices)[:, None] & (column < L)[None, :]
        x = summed(sums_ptr, base + column[None, :].to(tl.int64) * inner, inside, size, parts)
        higher = tl.maximum(top, tl.max(x, axis=1))
        shift = tl.where(higher == -float("inf"), 0.0, higher)  # -inf - -inf would be NaN
        total = total * tl.exp(top - shift) + tl.sum(tl.exp(x - shift[:, None]), axis=1)
        top = higher
    for start in range(0, L, COLUMNS):
        column = start + tl.arange(0, COLUMNS)
        inside = (row < slices)[:, None] & (column < L)[None, :]
        at = base + column[None, :].to(tl.int64) * inner
        y = summed(sums_ptr, at, inside, size, parts) - top[:, None] - tl.log(total)[:, None]
        tl.store(y_ptr + at, y.to(y_ptr.dtype.element_ty), mask=inside)


def tile(M, N, K, dtype):
    """Tile sizes, warps and stages: the largest tile that still gives every multiprocessor something to do."""
    if M <= 32:
        return 32, 64, 32 if dtype == torch.float32 else 64, 4, 4
    if dtype == torch.float32:
        return (64, 64, 32, 4, 3) if M <= 64 or M * N * max(1, K // 512) < 1 << 21 else (128, 64, 32, 4, 3)
    programs = triton.cdiv(M, 128) * triton.cdiv(N, 256)
    if programs >= 128:
        return 128, 256, 64, 8, 3
    return (128, 128, 64, 8, 3) if programs >= 64 else (64, 64, 64, 4, 4)


def fused_log_softmax_linear(input, weight, bias=None, dim=-1, dtype=None):
    N, K = weight.shape
    y = torch.empty((*input.shape[:-1], N), dtype=dtype or input.dtype, device=input.device)
    if not y.numel():
        return y
    x = input.reshape(-1, K) if input.numel() else input.new_empty(y.numel() // N, K)
    M = x.shape[0]
    BM, BN, BK, warps, stages = tile(M, N, K, x.dtype)
    tiles = triton.cdiv(M, BM) * triton.cdiv(N, BN)
    parts = max(1, min(512 // tiles, K // 512))
    part = triton.cdiv(triton.cdiv(K, parts), BK) * BK
    parts = max(1, triton.cdiv(K, part)) if part else 1
    sums = torch.empty((parts, M, N), dtype=torch.float32 if parts > 1 else x.dtype, device=x.device)
    b = x if bias is None else bias
    linear_kernel[(tiles, parts)](
        x, weight, b, sums, M, N, K, part, *x.stride(), *weight.stride(), b.stride(0),
        bias is not None, BM, BN, BK, num_warps=warps, num_stages=stages,
    )  # fmt: skip
    dim %= y.dim()
    L, inner = y.shape[dim], y.shape[dim + 1 :].numel()
    slices = M * N // L
    columns = triton.next_power_of_2(L)
    if columns <= 8192:
        rows, kernel = min(max(1, 2048 // columns), triton.next_power_of_2(slices)), whole_kernel
    else:
        rows, columns = (1, 4096) if inner == 1 else (min(64, triton.next_power_of_2(slices)), 64)
        kernel = long_kernel
    kernel[(triton.cdiv(slices, rows),)](
        sums, y, slices, L, inner, M * N, parts, rows, columns, num_warps=8 if rows * columns > 2048 else 4
    )
    return y
