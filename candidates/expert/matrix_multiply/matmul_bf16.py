"""Tiled bfloat16 product with float32 accumulators; strides and batches are left to pointers.

Programs walk down eight tiles before they step right, so that those that run together share what L2 holds.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def matmul_bf16_kernel(
    a_ptr, b_ptr, c_ptr, M, N, K, a_batch, a_m, a_k, b_batch, b_k, b_n,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    tiles_m, tiles_n = tl.cdiv(M, BM), tl.cdiv(N, BN)
    batch = (tl.program_id(0) // (tiles_m * tiles_n)).to(tl.int64)
    tile = tl.program_id(0) % (tiles_m * tiles_n)
    first = tile // (8 * tiles_n) * 8
    height = tl.minimum(tiles_m - first, 8)
    row = (first + tile % height).to(tl.int64) * BM + tl.arange(0, BM)
    column = (tile % (8 * tiles_n) // height).to(tl.int64) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    a_ptrs = a_ptr + batch * a_batch + row[:, None] * a_m + k[None, :] * a_k
    b_ptrs = b_ptr + batch * b_batch + k[:, None] * b_k + column[None, :] * b_n
    total = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        a = tl.load(a_ptrs, mask=(row < M)[:, None] & (k < K - start)[None, :], other=0.0)
        b = tl.load(b_ptrs, mask=(k < K - start)[:, None] & (column < N)[None, :], other=0.0)
        total = tl.dot(a, b, total)
        a_ptrs += BK * a_k
        b_ptrs += BK * b_k
    c_ptrs = c_ptr + batch * M * N + row[:, None] * N + column[None, :]
    tl.store(c_ptrs, total.to(c_ptr.dtype.element_ty), mask=(row < M)[:, None] & (column < N)[None, :])


def tile(M, N, batch):
    """Tile sizes, warps and stages: the largest tile that still gives every multiprocessor something to do."""
    if M <= 16:
        return 16, 64, 64, 4, 4
    programs = batch * triton.cdiv(M, 128) * triton.cdiv(N, 256)
    if programs >= 128:
        return 128, 256, 64, 8, 3
    return (128, 128, 64, 8, 3) if programs >= 64 else (64, 64, 64, 4, 4)


def matmul_bf16(input, other):
    a = input[None, :] if input.dim() == 1 else input
    c = torch.empty((*input.shape[:-1], other.shape[-1]), dtype=input.dtype, device=input.device)
    if not c.numel():
        return c
    a, b = (t if t.dim() == 3 else t[None] for t in (a, other))
    batch, M, K = a.shape
    N = b.shape[2]
    BM, BN, BK, warps, stages = tile(M, N, batch)
    matmul_bf16_kernel[(batch * triton.cdiv(M, BM) * triton.cdiv(N, BN),)](
        a, b, c, M, N, K, *a.stride(), *b.stride(), BM, BN, BK, num_warps=warps, num_stages=stages
    )
    return c
