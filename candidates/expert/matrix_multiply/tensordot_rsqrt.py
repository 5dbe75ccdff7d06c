"""rsqrt of tensordot: both tensors seen as matrices, one tiled product, and the root taken of the tile.

A tensor is copied only where no view puts the summed axes side by side. float32 is multiplied in three TF32 products,
as exact as float32.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def product_rsqrt_kernel(
    a_ptr, b_ptr, y_ptr, M, N, K, a_m, a_k, b_k, b_n, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):
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
    y_ptrs = y_ptr + row[:, None] * N + column[None, :]
    tl.store(y_ptrs, tl.rsqrt(total), mask=(row < M)[:, None] & (column < N)[None, :])


def tensordot_rsqrt(a, b, dims):
    if isinstance(dims, int):
        left, right = list(range(a.dim() - dims, a.dim())), list(range(dims))
    else:
        left, right = [axis % a.dim() for axis in dims[0]], [axis % b.dim() for axis in dims[1]]
    if [a.shape[axis] for axis in left] != [b.shape[axis] for axis in right]:
        raise RuntimeError(f"axes {left} of {list(a.shape)} and {right} of {list(b.shape)} differ in length")
    kept_a = [axis for axis in range(a.dim()) if axis not in left]
    kept_b = [axis for axis in range(b.dim()) if axis not in right]
    shape = [a.shape[axis] for axis in kept_a] + [b.shape[axis] for axis in kept_b]
    y = torch.empty(shape, dtype=a.dtype, device=a.device)
    if y.numel():
        K = torch.Size(a.shape[axis] for axis in left).numel()
        M = torch.Size(a.shape[axis] for axis in kept_a).numel()
        N = y.numel() // M
        x = a.permute(kept_a + left).reshape(M, K)
        w = b.permute(right + kept_b).reshape(K, N)
        BM, BN, BK, warps = (64, 64, 32, 4) if M * N < 1 << 21 else (128, 64, 32, 4)
        product_rsqrt_kernel[(triton.cdiv(M, BM) * triton.cdiv(N, BN),)](
            x, w, y, M, N, K, *x.stride(), *w.stride(), BM, BN, BK, num_warps=warps, num_stages=3
        )
    return y
