"""dropout(sigmoid(input @ weight.T + bias)), all of it on the tile that is still in registers.

Dropout draws from Philox, counted by the position in the result and keyed by a seed from torch's generator, so that no
mask has to be stored. Where there are too few tiles to fill a GPU, long sums are cut into parts, and a second launch
adds the parts up (always in the same order) and does the rest. float32 is multiplied in three TF32 products, as exact
as float32.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def dropped_sigmoid(x, at, p, scale, seed, DROPOUT: tl.constexpr):
    y = tl.sigmoid(x)
    if DROPOUT:
        y = tl.where(tl.rand(seed, at) < p, 0.0, y * scale)
    return y


@triton.jit(do_not_specialize=["seed"])
def linear_kernel(
    x_ptr, w_ptr, b_ptr, y_ptr, M, N, K, part, p, scale, seed, x_m, x_k, w_n, w_k, b_n,
    BIAS: tl.constexpr, DROPOUT: tl.constexpr, SPLIT: tl.constexpr,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    """y [M, N]; with SPLIT the parts of the sums, [parts, M, N], of which the first holds the bias."""
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
    at = m[:, None] * N + n[None, :]
    y = total if SPLIT else dropped_sigmoid(total, at.to(tl.int32), p, scale, seed, DROPOUT)
    tl.store(y_ptr + i * M * N + at, y.to(y_ptr.dtype.element_ty), mask=(m < M)[:, None] & (n < N)[None, :])


@triton.jit(do_not_specialize=["seed"])
def finish_kernel(sums_ptr, y_ptr, size, parts, p, scale, seed, DROPOUT: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for _ in range(parts):
        total += tl.load(sums_ptr + at, mask=at < size, other=0.0)
        sums_ptr += size
    y = dropped_sigmoid(total, at.to(tl.int32), p, scale, seed, DROPOUT)
    tl.store(y_ptr + at, y.to(y_ptr.dtype.element_ty), mask=at < size)


def tile(M, N, K, dtype):
    """Tile sizes, warps and stages: the largest tile that still gives every multiprocessor something to do."""
    if dtype == torch.float32:
        return (64, 64, 32, 4, 3) if M <= 64 or M * N * max(1, K // 512) < 1 << 21 else (128, 64, 32, 4, 3)
    # No larger tile than 128 x 128: drawing random numbers needs registers besides those of the sums.
    large = triton.cdiv(M, 128) * triton.cdiv(N, 128) >= 128
    return (128, 128, 64, 8, 3) if large else (64, 64, 64, 4, 4)


def fused_dropout_sigmoid_linear(input, weight, bias=None, p=0.5, training=True, inplace=False):
    if not 0.0 <= p <= 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    N, K = weight.shape
    x = input.reshape(-1, K) if input.numel() else input.new_empty(input.shape[:-1].numel(), K)
    M = x.shape[0]
    y = torch.empty((*input.shape[:-1], N), dtype=input.dtype, device=input.device)
    if not y.numel():
        return y
    BM, BN, BK, warps, stages = tile(M, N, K, x.dtype)
    tiles = triton.cdiv(M, BM) * triton.cdiv(N, BN)
    parts = max(1, min(256 // tiles, K // 512))
    part = triton.cdiv(triton.cdiv(K, parts), BK) * BK
    parts = max(1, triton.cdiv(K, part)) if part else 1
    sums = torch.empty((parts, M, N), dtype=torch.float32, device=x.device) if parts > 1 else y
    b = x if bias is None else bias
    dropout = training and p > 0.0
    seed = int(torch.randint(2**31 - 1, ())) if dropout else 0
    numbers = float(p), 1.0 / (1.0 - p) if p < 1.0 else 0.0, seed
    linear_kernel[(tiles, parts)](
        x, weight, b, sums, M, N, K, part, *numbers, *x.stride(), *weight.stride(), b.stride(0),
        bias is not None, dropout, parts > 1, BM, BN, BK, num_warps=warps, num_stages=stages,
    )  # fmt: skip
    if parts > 1:
        finish_kernel[(triton.cdiv(M * N, 1024),)](sums, y, M * N, parts, *numbers, dropout, 1024)
    return y
