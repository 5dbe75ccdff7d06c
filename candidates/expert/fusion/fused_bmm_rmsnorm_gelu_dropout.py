"""Batched matrix product, RMS normalisation of its rows, GELU and dropout.

Where a row of the result fits in a tile (N <= 256), all that follows is computed on the tile while it is in registers.
Otherwise the products are stored in float32, and a second launch takes whole rows of them. float32 is multiplied in
three TF32 products, as exact as float32.

Dropout draws from Philox, keyed by a seed from torch's generator; a draw gives four numbers, for four neighbours.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def gelu(x, TANH: tl.constexpr):
    if TANH:
        u = 0.7978845608028654 * (x + 0.044715 * x * x * x)  # sqrt(2 / pi)
        y = x / (1.0 + tl.exp(-2.0 * u))  # (1 + tanh(u)) / 2 = 1 / (1 + exp(-2 u))
    else:
        y = 0.5 * x * (1.0 + tl.erf(x * 0.7071067811865476))
    return y


@triton.jit
def gelu_dropout(x, row, column, across, p, scale, seed, TANH: tl.constexpr, DROPOUT: tl.constexpr):
    """Of a tile that begins at a multiple of its width; `across` is a row's length in draws."""
    y = gelu(x, TANH)
    if DROPOUT:
        draw = tl.min(column, axis=0) // 4 + tl.arange(0, x.shape[1] // 4)
        a, b, c, d = tl.rand4x(seed, row.to(tl.int32)[:, None] * across + draw[None, :])
        uniform = tl.interleave(tl.interleave(a, b), tl.interleave(c, d))
        y = tl.where(uniform < p, 0.0, y * scale)
    return y


@triton.jit(do_not_specialize=["seed"])
def bmm_kernel(
    a_ptr, b_ptr, y_ptr, M, N, K, a_b, a_m, a_k, b_b, b_k, b_n, eps, p, scale, seed,
    WHOLE: tl.constexpr, TANH: tl.constexpr, DROPOUT: tl.constexpr,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    tiles_m, tiles_n = tl.cdiv(M, BM), tl.cdiv(N, BN)
    tile, batch = tl.program_id(0) % (tiles_m * tiles_n), (tl.program_id(0) // (tiles_m * tiles_n)).to(tl.int64)
    first = tile // (8 * tiles_n) * 8  # programs walk down eight tiles before they step right
    height = tl.minimum(tiles_m - first, 8)
    m = (first + tile % (8 * tiles_n) % height) * BM + tl.arange(0, BM)
    n = tile % (8 * tiles_n) // height * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    a_ptrs = a_ptr + batch * a_b + m.to(tl.int64)[:, None] * a_m + k[None, :] * a_k
    b_ptrs = b_ptr + batch * b_b + k[:, None] * b_k + n.to(tl.int64)[None, :] * b_n
    x = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        a = tl.load(a_ptrs, mask=(m < M)[:, None] & (k < K - start)[None, :], other=0.0)
        b = tl.load(b_ptrs, mask=(k < K - start)[:, None] & (n < N)[None, :], other=0.0)
        x = tl.dot(a, b, x, input_precision="tf32x3")
        a_ptrs += BK * a_k
        b_ptrs += BK * b_k
    row = batch * M + m
    if WHOLE:
        x *= tl.rsqrt(tl.sum(x * x, axis=1) / N + eps)[:, None]
        x = gelu_dropout(x, row, n, BN // 4, p, scale, seed, TANH, DROPOUT)
    y_ptrs = y_ptr + row[:, None] * N + n[None, :]
    tl.store(y_ptrs, x.to(y_ptr.dtype.element_ty), mask=(m < M)[:, None] & (n < N)[None, :])


@triton.jit(do_not_specialize=["seed"])
def rows_kernel(
    x_ptr, y_ptr, rows, N, eps, p, scale, seed,
    TANH: tl.constexpr, DROPOUT: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    squares = tl.zeros((ROWS, COLUMNS), tl.float32)
    x = squares
    for start in range(0, N, COLUMNS):
        column = start + tl.arange(0, COLUMNS)
        inside = (row < rows)[:, None] & (column < N)[None, :]
        x = tl.load(x_ptr + row[:, None] * N + column[None, :], mask=inside, other=0.0)
        squares += x * x
    norm = tl.rsqrt(tl.sum(squares, axis=1) / N + eps)[:, None]
    for start in range(0, N, COLUMNS):
        column = start + tl.arange(0, COLUMNS)
        inside = (row < rows)[:, None] & (column < N)[None, :]
        if N > COLUMNS:  # else the row is still in registers
            x = tl.load(x_ptr + row[:, None] * N + column[None, :], mask=inside, other=0.0)
        y = gelu_dropout(x * norm, row, column, tl.cdiv(N, 4), p, scale, seed, TANH, DROPOUT)
        tl.store(y_ptr + row[:, None] * N + column[None, :], y.to(y_ptr.dtype.element_ty), mask=inside)


def fused_bmm_rmsnorm_gelu_dropout(
    input1, input2, normalized_shape, dropout_p=0.1, eps=1e-5, training=True, approximate="none", *, out=None
):
    B, M, K = input1.shape
    N = input2.shape[2]
    if not 0.0 <= dropout_p <= 1.0:
        raise ValueError(f"the probability of dropout is {dropout_p}, wanted 0 to 1")
    if approximate not in ("none", "tanh"):
        raise RuntimeError(f"approximate must be 'none' or 'tanh', not {approximate!r}")
    if normalized_shape != N and list(normalized_shape if not isinstance(normalized_shape, int) else []) != [N]:
        raise RuntimeError(f"normalized_shape is {normalized_shape}, wanted the length of a row, {N}")
    direct = out is not None and out.is_contiguous()
    y = out if direct else torch.empty((B, M, N), dtype=input1.dtype, device=input1.device)
    if y.numel():
        dropout = training and dropout_p > 0
        scale = 1.0 / (1.0 - dropout_p) if dropout_p < 1.0 else 0.0
        seed = int(torch.randint(2**31 - 1, ())) if dropout else 0
        how = (float(eps), float(dropout_p), scale, seed)
        forms = (approximate == "tanh", dropout)
        whole = N <= 256
        x = y if whole else torch.empty((B, M, N), dtype=torch.float32, device=y.device)
        if whole:
            block_m, block_n, block_k, warps = 64, max(16, triton.next_power_of_2(N)), 32 if N <= 128 else 16, 8
        elif y.dtype == torch.float32:
            block_m, block_n, block_k, warps = (128, 64, 32, 4) if B * M * N >= 1 << 21 else (64, 64, 32, 4)
        elif M * N < 1 << 20:
            block_m, block_n, block_k, warps = (128, 128, 32, 8) if M * N >= 1 << 18 else (64, 64, 32, 4)
        else:
            block_m, block_n, block_k, warps = 128, 256, 64, 8
        bmm_kernel[(B * triton.cdiv(M, block_m) * triton.cdiv(N, block_n),)](
            input1, input2, x, M, N, K, *input1.stride(), *input2.stride(), *how, whole, *forms,
            block_m, block_n, block_k, num_warps=warps, num_stages=3,
        )  # fmt: skip
        if not whole:
            columns = min(triton.next_power_of_2(N), 8192)
            rows = min(triton.next_power_of_2(B * M), max(1, 4096 // columns))
            rows_kernel[(triton.cdiv(B * M, rows),)](x, y, B * M, N, *how, *forms, rows, columns, num_warps=8)
    return y if direct or out is None else out.copy_(y)
