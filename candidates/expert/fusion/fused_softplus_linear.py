"""softplus(input @ weight.T + bias), with bias and softplus on the tile that is still in registers.

One row takes a kernel of its own, which only reads the weight as fast as it can. log(1 + e) would lose the tiny values,
so it is libdevice's log1p. float32 is multiplied in three TF32 products, as exact as float32.
"""

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def softplus(z, beta, threshold):
    u = z * beta
    return tl.where(u > threshold, z, libdevice.log1p(tl.exp(tl.minimum(u, threshold))) / beta)


@triton.jit
def matrix_kernel(
    x_ptr, w_ptr, b_ptr, y_ptr, M, N, K, beta, threshold, x_m, x_k, w_n, w_k, b_n,
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
    y = softplus(total, beta, threshold).to(y_ptr.dtype.element_ty)
    tl.store(y_ptr + m[:, None] * N + n[None, :], y, mask=(m < M)[:, None] & (n < N)[None, :])


@triton.jit
def row_kernel(
    x_ptr, w_ptr, b_ptr, y_ptr, N, K, beta, threshold, x_k, w_n, w_k, b_n,
    BIAS: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    n = tl.program_id(0).to(tl.int64) * BN + tl.arange(0, BN)
    products = tl.zeros((BN, BK), tl.float32)
    for start in range(0, K, BK):
        k = (start + tl.arange(0, BK)).to(tl.int64)
        x = tl.load(x_ptr + k * x_k, mask=k < K, other=0.0).to(tl.float32)
        inside = (n < N)[:, None] & (k < K)[None, :]
        w = tl.load(w_ptr + n[:, None] * w_n + k[None, :] * w_k, mask=inside, other=0.0).to(tl.float32)
        products += x[None, :] * w
    total = tl.sum(products, axis=1)
    if BIAS:
        total += tl.load(b_ptr + n * b_n, mask=n < N, other=0.0).to(tl.float32)
    tl.store(y_ptr + n, softplus(total, beta, threshold).to(y_ptr.dtype.element_ty), mask=n < N)


def tile(M, N, dtype):
    """Tile sizes, warps and stages: the largest tile that still gives every multiprocessor something to do."""
    if dtype == torch.float32:
        return (64, 64, 32, 4, 3) if M * N < 1 << 21 else (128, 64, 32, 4, 3)
    # No larger tile than 128 x 128: softplus needs registers besides those of the sums.
    large = triton.cdiv(M, 128) * triton.cdiv(N, 128) >= 128
    return (128, 128, 64, 8, 3) if large else (64, 64, 64, 4, 4)


def fused_softplus_linear(input, weight, bias=None, beta=1, threshold=20):
    N, K = weight.shape
    x = input.reshape(-1, K) if input.numel() else input.new_empty(input.shape[:-1].numel(), K)
    M = x.shape[0]
    y = torch.empty((*input.shape[:-1], N), dtype=input.dtype, device=input.device)
    if not y.numel():
        return y
    b = x if bias is None else bias
    numbers = float(beta), float(threshold)
    if M == 1:
        row_kernel[(triton.cdiv(N, 16),)](
            x, weight, b, y, N, K, *numbers, x.stride(1), *weight.stride(), b.stride(0), bias is not None, 16, 256
        )
        return y
    BM, BN, BK, warps, stages = tile(M, N, x.dtype)
    matrix_kernel[(triton.cdiv(M, BM) * triton.cdiv(N, BN),)](
        x, weight, b, y, M, N, K, *numbers, *x.stride(), *weight.stride(), b.stride(0),
        bias is not None, BM, BN, BK, num_warps=warps, num_stages=stages,
    )  # fmt: skip
    return y
