"""Tiled matrix product with float32 accumulators; strides, batches and their broadcasting are left to pointers.

Programs walk down eight tiles before they step right, so that those that run together share what L2 holds. A left
operand whose partner has no batch is one tall matrix. float32 is multiplied in three TF32 products, as exact as
float32.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def matmul_kernel(
    a_ptr, b_ptr, c_ptr, M, N, K, inner_batch, a_outer, a_inner, a_m, a_k, b_outer, b_inner, b_k, b_n,
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
    a_ptrs = a_ptr + batch // inner_batch * a_outer + batch % inner_batch * a_inner
    b_ptrs = b_ptr + batch // inner_batch * b_outer + batch % inner_batch * b_inner
    a_ptrs += row[:, None] * a_m + k[None, :] * a_k
    b_ptrs += k[:, None] * b_k + column[None, :] * b_n
    total = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        a = tl.load(a_ptrs, mask=(row < M)[:, None] & (k < K - start)[None, :], other=0.0)
        b = tl.load(b_ptrs, mask=(k < K - start)[:, None] & (column < N)[None, :], other=0.0)
        total = tl.dot(a, b, total, input_precision="tf32x3")
        a_ptrs += BK * a_k
        b_ptrs += BK * b_k
    c_ptrs = c_ptr + batch * M * N + row[:, None] * N + column[None, :]
    tl.store(c_ptrs, total.to(c_ptr.dtype.element_ty), mask=(row < M)[:, None] & (column < N)[None, :])


def tile(M, N, batch, dtype):
    """Tile sizes, warps and stages: the largest tile that still gives every multiprocessor something to do."""
    if dtype == torch.float32:
        return (64, 64, 32, 4, 3) if batch * M * N < 1 << 21 else (128, 64, 32, 4, 3)
    programs = batch * triton.cdiv(M, 128) * triton.cdiv(N, 256)
    if programs >= 128:
        return 128, 256, 64, 8, 3
    return (128, 128, 64, 8, 3) if programs >= 64 else (64, 64, 64, 4, 4)


def matmul(tensor1, tensor2):
    a = tensor1[None, :] if tensor1.dim() == 1 else tensor1
    b = tensor2[:, None] if tensor2.dim() == 1 else tensor2
    M, K = a.shape[-2:]
    N = b.shape[-1]
    leading = torch.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    shape = [*leading, *([M] if tensor1.dim() > 1 else []), *([N] if tensor2.dim() > 1 else [])]
    c = torch.empty(shape, dtype=a.dtype, device=a.device)
    if not c.numel():
        return c
    if b.dim() == 2:
        a = a.reshape(1, 1, -1, K) if K else a.new_empty(1, 1, leading.numel() * M, 0)
        b, M = b[None, None], a.shape[2]
    else:
        outer, inner = leading[:-1].numel(), leading[-1]
        a, b = (t.expand(*leading, *t.shape[-2:]).reshape(outer, inner, *t.shape[-2:]) for t in (a, b))
    batch = a.shape[0] * a.shape[1]
    BM, BN, BK, warps, stages = tile(M, N, batch, a.dtype)
    if M <= 16:
        BM = 16
    matmul_kernel[(batch * triton.cdiv(M, BM) * triton.cdiv(N, BN),)](
        a, b, c, M, N, K, a.shape[1], *a.stride(), *b.stride(), BM, BN, BK, num_warps=warps, num_stages=stages
    )
    return c
