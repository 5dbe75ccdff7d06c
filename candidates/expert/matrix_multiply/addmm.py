"""beta * input + alpha * (mat1 @ mat2): a tiled product, with `input` added to the tile before it is rounded, once.

`input` is broadcast by strides of zero; with beta = 0 it is not read. float32 is multiplied in three TF32 products, as
exact as float32.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def addmm_kernel(
    a_ptr, b_ptr, x_ptr, y_ptr, M, N, K, alpha, beta, a_m, a_k, b_k, b_n, x_m, x_n, y_m, y_n,
    ADD: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
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
    y = alpha * total
    if ADD:
        y += beta * tl.load(x_ptr + row[:, None] * x_m + column[None, :] * x_n, mask=inside).to(tl.float32)
    y_ptrs = y_ptr + row[:, None] * y_m + column[None, :] * y_n
    tl.store(y_ptrs, y.to(y_ptr.dtype.element_ty), mask=inside)


def tile(M, N, dtype):
    """Tile sizes, warps and stages: the largest tile that still gives every multiprocessor something to do."""
    if dtype == torch.float32:
        return (64, 64, 32, 4, 3) if M * N < 1 << 21 else (128, 64, 32, 4, 3)
    programs = triton.cdiv(M, 128) * triton.cdiv(N, 256)
    if programs >= 128:
        return 128, 256, 64, 8, 3
    return (128, 128, 64, 8, 3) if programs >= 64 else (64, 64, 64, 4, 4)


def addmm(input, mat1, mat2, beta=1, alpha=1, out=None):
    M, K = mat1.shape
    N = mat2.shape[1]
    x = input.expand(M, N)
    y = torch.empty((M, N), dtype=mat1.dtype, device=mat1.device) if out is None else out
    if y.numel():
        BM, BN, BK, warps, stages = tile(M, N, mat1.dtype)
        addmm_kernel[(triton.cdiv(M, BM) * triton.cdiv(N, BN),)](
            mat1, mat2, x, y, M, N, K, float(alpha), float(beta),
            *mat1.stride(), *mat2.stride(), *x.stride(), *y.stride(),
            beta != 0, BM, BN, BK, num_warps=warps, num_stages=stages,
        )  # fmt: skip
    return y
