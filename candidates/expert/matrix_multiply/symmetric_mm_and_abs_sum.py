"""Sum of |alpha * (A @ A.T) + beta * C|.

The product is symmetric, so only tiles on and below the diagonal are computed; each is put together with two tiles of
C, its own and the mirrored one. The tiles' sums are added up by a second launch, always in the same order. float32 is
multiplied in three TF32 products, as exact as float32.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def tile_kernel(a_ptr, c_ptr, sum_ptr, N, K, alpha, beta, a_n, a_k, c_m, c_n, BM: tl.constexpr, BK: tl.constexpr):
    # Tiles below the diagonal are numbered row by row: row i begins at i * (i + 1) / 2.
    i = ((tl.sqrt(8.0 * tl.program_id(0).to(tl.float32) + 1.0) - 1.0) * 0.5).to(tl.int32)
    i = tl.where(i * (i + 1) // 2 > tl.program_id(0), i - 1, i)
    i = tl.where((i + 1) * (i + 2) // 2 <= tl.program_id(0), i + 1, i)
    j = tl.program_id(0) - i * (i + 1) // 2
    row = i.to(tl.int64) * BM + tl.arange(0, BM)
    column = j.to(tl.int64) * BM + tl.arange(0, BM)
    k = tl.arange(0, BK)
    left = a_ptr + row[:, None] * a_n + k[None, :] * a_k
    right = a_ptr + column[None, :] * a_n + k[:, None] * a_k
    total = tl.zeros((BM, BM), tl.float32)
    for start in range(0, K, BK):
        a = tl.load(left, mask=(row < N)[:, None] & (k < K - start)[None, :], other=0.0)
        b = tl.load(right, mask=(k < K - start)[:, None] & (column < N)[None, :], other=0.0)
        total = tl.dot(a, b, total, input_precision="tf32x3")
        left += BK * a_k
        right += BK * a_k
    inside = (row < N)[:, None] & (column < N)[None, :]
    c = tl.load(c_ptr + row[:, None] * c_m + column[None, :] * c_n, mask=inside, other=0.0)
    mirrored = inside & (i != j)
    turned = tl.load(c_ptr + column[None, :] * c_m + row[:, None] * c_n, mask=mirrored, other=0.0)
    both = tl.where(inside, tl.abs(alpha * total + beta * c), 0.0)
    both += tl.where(mirrored, tl.abs(alpha * total + beta * turned), 0.0)
    tl.store(sum_ptr + tl.program_id(0), tl.sum(both))


@triton.jit
def sum_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, n, BLOCK):
        at = start + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + at, mask=at < n, other=0.0)
    tl.store(y_ptr, tl.sum(total, axis=0))


def symmetric_mm_and_abs_sum(A, C, alpha, beta):
    N, K = A.shape
    BM, warps = (32, 4) if N <= 512 else (64, 4) if N <= 2048 else (128, 8)
    rows = triton.cdiv(N, BM)
    tiles = rows * (rows + 1) // 2
    sums = torch.empty((tiles,), dtype=torch.float32, device=A.device)
    if N:
        tile_kernel[(tiles,)](
            A, C, sums, N, K, float(alpha), float(beta), *A.stride(), *C.stride(), BM, 32, num_warps=warps, num_stages=3
        )
    y = torch.empty((), dtype=A.dtype, device=A.device)
    sum_kernel[(1,)](sums, y, tiles, 1024)
    return y
