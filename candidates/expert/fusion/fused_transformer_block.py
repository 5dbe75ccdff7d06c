"""softmax(input @ weight1), dropout, @ weight2 + residual, layer normalisation: four launches.

Two of them are tiled matrix products, batch and length being one axis; the second adds the residual on its tiles. The
others go along rows, in place, which fit the first-level cache and so are read from memory once. float32 is multiplied
in three TF32 products, as exact as float32. The mask comes from Philox, counted by the position and keyed by a seed
from torch's generator.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def matmul_kernel(
    a_ptr, b_ptr, residual_ptr, y_ptr, M, N, K, a_m, a_k, b_k, b_n,
    RESIDUAL: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    # Programs walk down eight tiles before they step right, so that those that run together share what L2 holds.
    tiles_m, tiles_n = tl.cdiv(M, BM), tl.cdiv(N, BN)
    first = tl.program_id(0) // (8 * tiles_n) * 8
    height = tl.minimum(tiles_m - first, 8)
    row = (first + tl.program_id(0) % (8 * tiles_n) % height).to(tl.int64) * BM + tl.arange(0, BM)
    column = (tl.program_id(0) % (8 * tiles_n) // height).to(tl.int64) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    a_ptrs = a_ptr + row[:, None] * a_m + k[None, :] * a_k
    b_ptrs = b_ptr + k[:, None] * b_k + column[None, :] * b_n
    total = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        a = tl.load(a_ptrs, mask=(row < M)[:, None] & (k < K - start)[None, :], other=0.0)
        b = tl.load(b_ptrs, mask=(k < K - start)[:, None] & (column < N)[None, :], other=0.0)
        total = tl.dot(a, b, total, input_precision="tf32x3")
        a_ptrs += BK * a_k
        b_ptrs += BK * b_k
    inside = (row < M)[:, None] & (column < N)[None, :]
    at = row[:, None] * N + column[None, :]
    if RESIDUAL:
        total += tl.load(residual_ptr + at, mask=inside, other=0.0)
    tl.store(y_ptr + at, total, mask=inside)


@triton.jit(do_not_specialize=["seed"])
def softmax_dropout_kernel(
    x_ptr, M, K, p, scale, seed, DROPOUT: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr
):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)[:, None]
    x_ptrs = x_ptr + row.to(tl.int64) * K
    top = tl.full((ROWS,), -float("inf"), tl.float32)
    total = tl.zeros((ROWS,), tl.float32)
    for start in range(0, K, COLUMNS):
        k = start + tl.arange(0, COLUMNS)[None, :]
        x = tl.load(x_ptrs + k, mask=(row < M) & (k < K), other=-float("inf"))
        higher = tl.maximum(top, tl.max(x, axis=1))
        shift = tl.where(higher == -float("inf"), 0.0, higher)  # rows that are not there
        total = total * tl.exp(top - shift) + tl.sum(tl.exp(x - shift[:, None]), axis=1)
        top = higher
    for start in range(0, K, COLUMNS):
        k = start + tl.arange(0, COLUMNS)[None, :]
        x = tl.load(x_ptrs + k, mask=(row < M) & (k < K), other=-float("inf"))
        y = tl.exp(x - top[:, None]) / total[:, None]
        if DROPOUT:
            y = tl.where(tl.rand(seed, row * K + k) < p, 0.0, y * scale)
        tl.store(x_ptrs + k, y, mask=(row < M) & (k < K))


@triton.jit
def layer_norm_kernel(x_ptr, M, D, eps, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)[:, None]
    x_ptrs = x_ptr + row.to(tl.int64) * D
    total = tl.zeros((ROWS, COLUMNS), tl.float32)
    for start in range(0, D, COLUMNS):
        d = start + tl.arange(0, COLUMNS)[None, :]
        total += tl.load(x_ptrs + d, mask=(row < M) & (d < D), other=0.0)
    mean = (tl.sum(total, axis=1) / D)[:, None]
    squares = tl.zeros((ROWS, COLUMNS), tl.float32)
    for start in range(0, D, COLUMNS):
        d = start + tl.arange(0, COLUMNS)[None, :]
        x = tl.load(x_ptrs + d, mask=(row < M) & (d < D), other=0.0)
        squares += tl.where(d < D, (x - mean) * (x - mean), 0.0)
    scale = tl.rsqrt(tl.sum(squares, axis=1) / D + eps)[:, None]
    for start in range(0, D, COLUMNS):
        d = start + tl.arange(0, COLUMNS)[None, :]
        x = tl.load(x_ptrs + d, mask=(row < M) & (d < D), other=0.0)
        tl.store(x_ptrs + d, (x - mean) * scale, mask=(row < M) & (d < D))


def product(a, b, residual, y):
    """y = a @ b + residual, or without it if that is None; y and residual are contiguous."""
    (M, K), N = a.shape, b.shape[1]
    BM, BN, BK, warps = (64, 64, 32, 4) if M * N < 1 << 21 else (128, 64, 32, 4)
    matmul_kernel[(triton.cdiv(M, BM) * triton.cdiv(N, BN),)](
        a, b, y if residual is None else residual, y, M, N, K, *a.stride(), *b.stride(), residual is not None,
        BM, BN, BK, num_warps=warps, num_stages=3,
    )  # fmt: skip


def rows_by_columns(M, N):
    """The tile of a kernel that goes along rows, of 4096 elements at most."""
    columns = min(triton.next_power_of_2(N), 4096)
    return min(triton.next_power_of_2(M), 4096 // columns), columns


def fused_transformer_block(input, weight1, weight2, residual, dropout_p=0.1, eps=1e-5, *, out=None):
    if not 0.0 <= dropout_p <= 1.0:
        raise ValueError(f"the probability of being dropped must be between 0 and 1, not {dropout_p}")
    B, L, width = input.shape
    K, D = weight2.shape
    if weight1.shape != (width, K) or residual.shape != (B, L, D):
        shapes = [list(x.shape) for x in (input, weight1, weight2, residual)]
        raise RuntimeError("the shapes {}, {}, {} and {} do not fit".format(*shapes))
    direct = out is not None and out.is_contiguous()
    y = out if direct else torch.empty((B, L, D), dtype=input.dtype, device=input.device)
    M = B * L
    if y.numel():
        shares = torch.empty((M, K), dtype=torch.float32, device=input.device)
        product(input.reshape(M, width), weight1, None, shares)
        rows, columns = rows_by_columns(M, K)
        seed = int(torch.randint(2**31 - 1, ())) if dropout_p > 0.0 else 0
        softmax_dropout_kernel[(triton.cdiv(M, rows),)](
            shares, M, K, float(dropout_p), 1.0 / (1.0 - dropout_p) if dropout_p < 1.0 else 0.0, seed,
            dropout_p > 0.0, rows, columns, num_warps=8,
        )  # fmt: skip
        product(shares, weight2, residual.contiguous(), y)
        rows, columns = rows_by_columns(M, D)
        layer_norm_kernel[(triton.cdiv(M, rows),)](y, M, D, float(eps), rows, columns, num_warps=8)
    return y if direct or out is None else out.copy_(y)
