"""A tiled product into a buffer, then for every slice: bias and ReLU as it is read, mean and variance, one write.

A tile of the product is no slice of the norm, so there are two launches. Where there are too few tiles to fill a GPU,
long sums are cut into parts, which the second launch adds up as it reads. Slices of up to 16,384 elements stay in
registers; longer ones are read three times. float32 is multiplied in three TF32 products, as exact as float32.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def product_kernel(
    x_ptr, w_ptr, sums_ptr, M, N, K, part, x_m, x_k, w_n, w_k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):
    """sums [parts, M, N]: the parts of x @ w.T."""
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
    tl.store(sums_ptr + i * M * N + m[:, None] * N + n[None, :], total, mask=(m < M)[:, None] & (n < N)[None, :])


@triton.jit
def hidden(sums_ptr, b_ptr, at, inside, size, parts, N, b_n, BIAS: tl.constexpr):
    """Elements `at` of max(0, x @ w.T + bias), 0 outside."""
    h = tl.load(sums_ptr + at, mask=inside, other=0.0)
    for i in range(1, parts):
        h += tl.load(sums_ptr + i.to(tl.int64) * size + at, mask=inside, other=0.0)
    if BIAS:
        h += tl.load(b_ptr + at % N * b_n, mask=inside, other=0.0).to(tl.float32)
    return tl.maximum(h, 0.0)


@triton.jit
def whole_kernel(
    sums_ptr, b_ptr, y_ptr, slices, L, size, parts, N, b_n, eps,
    BIAS: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, COLUMNS)
    inside = (row < slices)[:, None] & (column < L)[None, :]
    at = row[:, None] * L + column[None, :]
    h = hidden(sums_ptr, b_ptr, at, inside, size, parts, N, b_n, BIAS)
    away = tl.where(inside, h - (tl.sum(h, axis=1) / L)[:, None], 0.0)
    y = away * (1.0 / tl.sqrt(tl.sum(away * away, axis=1) / L + eps))[:, None]
    tl.store(y_ptr + at, y.to(y_ptr.dtype.element_ty), mask=inside)


@triton.jit
def long_kernel(sums_ptr, b_ptr, y_ptr, L, size, parts, N, b_n, eps, BIAS: tl.constexpr, COLUMNS: tl.constexpr):
    base = tl.program_id(0).to(tl.int64) * L
    total = tl.zeros((COLUMNS,), tl.float32)
    for start in range(0, L, COLUMNS):
        column = start + tl.arange(0, COLUMNS)
        total += hidden(sums_ptr, b_ptr, base + column, column < L, size, parts, N, b_n, BIAS)
    mean = tl.sum(total, axis=0) / L
    squares = tl.zeros((COLUMNS,), tl.float32)
    for start in range(0, L, COLUMNS):
        column = start + tl.arange(0, COLUMNS)
        away = hidden(sums_ptr, b_ptr, base + column, column < L, size, parts, N, b_n, BIAS) - mean
        squares += tl.where(column < L, away * away, 0.0)
    scale = 1.0 / tl.sqrt(tl.sum(squares, axis=0) / L + eps)
    for start in range(0, L, COLUMNS):
        column = start + tl.arange(0, COLUMNS)
        y = (hidden(sums_ptr, b_ptr, base + column, column < L, size, parts, N, b_n, BIAS) - mean) * scale
        tl.store(y_ptr + base + column, y.to(y_ptr.dtype.element_ty), mask=column < L)


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


def fused_layer_norm_relu_linear(input, weight, bias=None, normalized_shape=None, eps=1e-5, elementwise_affine=True):
    N, K = weight.shape
    shape = (*input.shape[:-1], N)
    normalized = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
    if not normalized or shape[-len(normalized) :] != normalized:
        raise RuntimeError(f"normalized_shape is {normalized}, but the result has the shape {shape}")
    y = torch.empty(shape, dtype=input.dtype, device=input.device)
    if not y.numel():
        return y
    x = input.reshape(-1, K) if input.numel() else input.new_empty(y.numel() // N, K)
    M = x.shape[0]
    BM, BN, BK, warps, stages = tile(M, N, K, x.dtype)
    tiles = triton.cdiv(M, BM) * triton.cdiv(N, BN)
    parts = max(1, min(512 // tiles, K // 512))
    part = triton.cdiv(triton.cdiv(K, parts), BK) * BK
    parts = max(1, triton.cdiv(K, part)) if part else 1
    sums = torch.empty((parts, M, N), dtype=torch.float32, device=x.device)
    product_kernel[(tiles, parts)](
        x, weight, sums, M, N, K, part, *x.stride(), *weight.stride(), BM, BN, BK, num_warps=warps, num_stages=stages
    )
    L = torch.Size(normalized).numel()
    slices = M * N // L
    b = x if bias is None else bias
    columns = triton.next_power_of_2(L)
    if columns <= 16384:
        rows = min(max(1, 2048 // columns), triton.next_power_of_2(slices))
        whole_kernel[(triton.cdiv(slices, rows),)](
            sums, b, y, slices, L, M * N, parts, N, b.stride(0), float(eps), bias is not None, rows, columns,
            num_warps=16 if columns > 4096 else 8 if columns > 1024 else 4,
        )  # fmt: skip
    else:
        long_kernel[(slices,)](
            sums, b, y, L, M * N, parts, N, b.stride(0), float(eps), bias is not None, 4096, num_warps=8
        )
    return y
