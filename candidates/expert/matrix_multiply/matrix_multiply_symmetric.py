"""C1 = alpha * A @ B + beta * C, then alpha * C1 @ C1.T + beta * C1.

The second product is symmetric: only tiles on and below the diagonal are computed, and each is also written to its
mirror place, turned. C1 is kept in the type of the inputs. float32 is multiplied in three TF32
products, as exact as float32.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def product_kernel(
    a_ptr, b_ptr, c_ptr, y_ptr, N, K, alpha, beta, a_m, a_k, b_k, b_n, c_m, c_n,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    """y [N, N] = alpha * (a @ b) + beta * c."""
    # Programs walk down eight tiles before they step right, so that those that run together share what L2 holds.
    tiles_m, tiles_n = tl.cdiv(N, BM), tl.cdiv(N, BN)
    first = tl.program_id(0) // (8 * tiles_n) * 8
    height = tl.minimum(tiles_m - first, 8)
    row = (first + tl.program_id(0) % (8 * tiles_n) % height).to(tl.int64) * BM + tl.arange(0, BM)
    column = (tl.program_id(0) % (8 * tiles_n) // height).to(tl.int64) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    a_ptrs = a_ptr + row[:, None] * a_m + k[None, :] * a_k
    b_ptrs = b_ptr + k[:, None] * b_k + column[None, :] * b_n
    total = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        a = tl.load(a_ptrs, mask=(row < N)[:, None] & (k < K - start)[None, :], other=0.0)
        b = tl.load(b_ptrs, mask=(k < K - start)[:, None] & (column < N)[None, :], other=0.0)
        total = tl.dot(a, b, total, input_precision="tf32x3")
        a_ptrs += BK * a_k
        b_ptrs += BK * b_k
    inside = (row < N)[:, None] & (column < N)[None, :]
    c = tl.load(c_ptr + row[:, None] * c_m + column[None, :] * c_n, mask=inside).to(tl.float32)
    y = alpha * total + beta * c
    tl.store(y_ptr + row[:, None] * N + column[None, :], y.to(y_ptr.dtype.element_ty), mask=inside)


@triton.jit
def square_kernel(f_ptr, y_ptr, N, alpha, beta, BM: tl.constexpr, BK: tl.constexpr):
    """y [N, N] = alpha * (f @ f.T) + beta * f, both contiguous."""
    if tl.program_id(0) <= tl.program_id(1):
        row = tl.program_id(1).to(tl.int64) * BM + tl.arange(0, BM)
        column = tl.program_id(0).to(tl.int64) * BM + tl.arange(0, BM)
        k = tl.arange(0, BK)
        left = f_ptr + row[:, None] * N + k[None, :]
        right = f_ptr + column[None, :] * N + k[:, None]
        total = tl.zeros((BM, BM), tl.float32)
        for start in range(0, N, BK):
            a = tl.load(left + start, mask=(row < N)[:, None] & (k < N - start)[None, :], other=0.0)
            b = tl.load(right + start, mask=(k < N - start)[:, None] & (column < N)[None, :], other=0.0)
            total = tl.dot(a, b, total, input_precision="tf32x3")
        inside = (row < N)[:, None] & (column < N)[None, :]
        at = row[:, None] * N + column[None, :]
        y = alpha * total + beta * tl.load(f_ptr + at, mask=inside).to(tl.float32)
        tl.store(y_ptr + at, y.to(y_ptr.dtype.element_ty), mask=inside)
        if tl.program_id(0) < tl.program_id(1):
            inside = (column < N)[:, None] & (row < N)[None, :]
            at = column[:, None] * N + row[None, :]
            y = alpha * tl.trans(total) + beta * tl.load(f_ptr + at, mask=inside).to(tl.float32)
            tl.store(y_ptr + at, y.to(y_ptr.dtype.element_ty), mask=inside)


def tile(N, dtype):
    """Sides of the tiles of the first and second product, block along K, warps of both, and stages."""
    if dtype == torch.float32:
        return (128, 64, 128, 32, 4, 8, 3) if N >= 2048 else (64, 64, 64, 32, 4, 4, 3)
    return (128, 128, 128, 64, 8, 8, 3) if N >= 2048 else (64, 64, 64, 64, 4, 4, 4)


def matrix_multiply_symmetric(A, B, C, alpha, beta):
    N, K = A.shape
    first = torch.empty((N, N), dtype=A.dtype, device=A.device)
    y = torch.empty_like(first)
    if N:
        BM, BN, side, BK, warps, square_warps, stages = tile(N, A.dtype)
        product_kernel[(triton.cdiv(N, BM) * triton.cdiv(N, BN),)](
            A, B, C, first, N, K, float(alpha), float(beta), *A.stride(), *B.stride(), *C.stride(),
            BM, BN, BK, num_warps=warps, num_stages=stages,
        )  # fmt: skip
        tiles = triton.cdiv(N, side)
        square_kernel[(tiles, tiles)](
            first, y, N, float(alpha), float(beta), side, BK, num_warps=square_warps, num_stages=stages
        )
    return y
