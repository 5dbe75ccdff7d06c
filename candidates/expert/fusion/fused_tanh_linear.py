"""tanh(input @ weight.T + bias), with bias and tangent on the tile that is still in registers.

The tangent comes from one exponential, (1 - t) / (1 + t) with t = exp(-2 |x|), which cannot overflow; near zero, where
1 - t cancels, from the Taylor series up to x^7. float32 is multiplied in three TF32 products, as exact as float32.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def tanh(x):
    t = tl.exp(-2.0 * tl.abs(x))
    large = (1.0 - t) / (1.0 + t)
    s = x * x
    small = x * (1.0 + s * (-1.0 / 3.0 + s * (2.0 / 15.0 - s * (17.0 / 315.0))))
    return tl.where(tl.abs(x) < 0.2, small, tl.where(x < 0, -large, large))


@triton.jit
def tanh_linear_kernel(
    x_ptr, w_ptr, b_ptr, y_ptr, M, N, K, x_m, x_k, w_n, w_k, b_n,
    BIAS: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    # Programs walk down eight tiles before they step right, so that those that run together share what L2 holds.
    tiles_m, tiles_n = tl.cdiv(M, BM), tl.cdiv(N, BN)
    first = tl.program_id(0) // (8 * tiles_n) * 8
    height = tl.minimum(tiles_m - first, 8)
    m = (first + tl.program_id(0) % (8 * tiles_n) % height).to(tl.int64) * BM + tl.arange(0, BM)
    n = (tl.program_id(0) % (8 * tiles_n) // height).to(tl.int64) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    x_ptrs = x_ptr + m[:, None] * x_m + k[None, :] * x_k
    w_ptrs = w_ptr + n[None, :] * w_n + k[:, None] * w_k
    total = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        x = tl.load(x_ptrs, mask=(m < M)[:, None] & (k < K - start)[None, :], other=0.0)
        w = tl.load(w_ptrs, mask=(k < K - start)[:, None] & (n < N)[None, :], other=0.0)
        total = tl.dot(x, w, total, input_precision="tf32x3")
        x_ptrs += BK * x_k
        w_ptrs += BK * w_k
    if BIAS:
        total += tl.load(b_ptr + n * b_n, mask=n < N, other=0.0).to(tl.float32)[None, :]
    y = tanh(total).to(y_ptr.dtype.element_ty)
    tl.store(y_ptr + m[:, None] * N + n[None, :], y, mask=(m < M)[:, None] & (n < N)[None, :])


def tile(M, N, dtype):
    """Tile sizes, warps and stages: the largest tile that still gives every multiprocessor something to do."""
    if M * N <= 1 << 14:
        return 32, 32, 64, 4, 3
    if dtype == torch.float32:
        return (64, 64, 32, 4, 3) if M * N < 1 << 21 else (128, 64, 32, 4, 3)
    programs = triton.cdiv(M, 128) * triton.cdiv(N, 256)
    if programs >= 128:
        return 128, 256, 64, 8, 3
    return (128, 128, 64, 8, 3) if programs >= 64 else (64, 64, 64, 4, 4)


def fused_tanh_linear(input, weight, bias=None):
    N, K = weight.shape
    x = input.reshape(-1, K) if input.numel() else input.new_empty(input.shape[:-1].numel(), K)
    M = x.shape[0]
    y = torch.empty((*input.shape[:-1], N), dtype=input.dtype, device=input.device)
    if y.numel():
        BM, BN, BK, warps, stages = tile(M, N, x.dtype)
        b = x if bias is None else bias
        tanh_linear_kernel[(triton.cdiv(M, BM) * triton.cdiv(N, BN),)](
            x, weight, b, y, M, N, K, *x.stride(), *weight.stride(), b.stride(0),
            bias is not None, BM, BN, BK, num_warps=warps, num_stages=stages,
        )  # fmt: skip
    return y
