"""elu(input @ weight.T + bias), with bias and unit on the tile that is still in registers.

Where there are too few tiles to fill a GPU, long sums are cut into parts, and a second launch adds the parts up (always
in the same order) and takes the unit of them. float32 is multiplied in three TF32 products, as exact as float32.
"""

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def elu(x, alpha):
    return tl.where(x > 0.0, x, alpha * libdevice.expm1(x))


@triton.jit
def linear_kernel(
    x_ptr, w_ptr, b_ptr, y_ptr, M, N, K, part, alpha, x_m, x_k, w_n, w_k, b_n,
    BIAS: tl.constexpr, SPLIT: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
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
    y = total if SPLIT else elu(total, alpha)
    y_ptrs = y_ptr + i * M * N + m[:, None] * N + n[None, :]
    tl.store(y_ptrs, y.to(y_ptr.dtype.element_ty), mask=(m < M)[:, None] & (n < N)[None, :])


@triton.jit
def finish_kernel(sums_ptr, y_ptr, size, parts, alpha, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for _ in range(parts):
        total += tl.load(sums_ptr + at, mask=at < size, other=0.0)
        sums_ptr += size
    tl.store(y_ptr + at, elu(total, alpha).to(y_ptr.dtype.element_ty), mask=at < size)


def tile(M, N, K, dtype):
    """Tile sizes, warps and stages: the largest tile that still gives every multiprocessor something to do."""
    if dtype == torch.float32:
        return (64, 64, 32, 4, 3) if M <= 64 or M * N * max(1, K // 512) < 1 << 21 else (128, 64, 32, 4, 3)
    programs = triton.cdiv(M, 128) * triton.cdiv(N, 256)
    if programs >= 128:
        return 128, 256, 64, 8, 3
    return (128, 128, 64, 8, 3) if programs >= 64 else (64, 64, 64, 4, 4)


def fused_elu_linear(input, weight, bias=None, alpha=1.0, inplace=False):
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
    linear_kernel[(tiles, parts)](
        x, weight, b, sums, M, N, K, part, float(alpha), *x.stride(), *weight.stride(), b.stride(0),
        bias is not None, parts > 1, BM, BN, BK, num_warps=warps, num_stages=stages,
    )  # fmt: skip
    if parts > 1:
        finish_kernel[(triton.cdiv(M * N, 1024),)](sums, y, M * N, parts, float(alpha), 1024)
    return y
