"""Matrix product in float32, all that follows computed on the tile while it is in registers.

Programs walk down eight tiles before they step right, so that those that run together share what L2 holds. weight2 and
bias are broadcast by strides of 0. float32 is multiplied in three TF32 products, as exact as float32.
"""

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def combined_kernel(
    x_ptr, w_ptr, scale_ptr, bias_ptr, y_ptr, M, N, K, x_m, x_k, w_k, w_n, scale_m, scale_n, bias_m, bias_n, y_m, y_n,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    tiles_m, tiles_n = tl.cdiv(M, BM), tl.cdiv(N, BN)
    tile = tl.program_id(0)
    first = tile // (8 * tiles_n) * 8
    height = tl.minimum(tiles_m - first, 8)
    row = (first + tile % height).to(tl.int64) * BM + tl.arange(0, BM)
    column = (tile % (8 * tiles_n) // height).to(tl.int64) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    x_ptrs = x_ptr + row[:, None] * x_m + k[None, :] * x_k
    w_ptrs = w_ptr + k[:, None] * w_k + column[None, :] * w_n
    total = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        x = tl.load(x_ptrs, mask=(row < M)[:, None] & (k < K - start)[None, :], other=0.0)
        w = tl.load(w_ptrs, mask=(k < K - start)[:, None] & (column < N)[None, :], other=0.0)
        total = tl.dot(x, w, total, input_precision="tf32x3")
        x_ptrs += BK * x_k
        w_ptrs += BK * w_k
    inside = (row < M)[:, None] & (column < N)[None, :]
    scale = tl.load(scale_ptr + row[:, None] * scale_m + column[None, :] * scale_n, mask=inside)
    bias = tl.load(bias_ptr + row[:, None] * bias_m + column[None, :] * bias_n, mask=inside)
    y = libdevice.tanh(1.0 / (1.0 + tl.exp(-total))) * scale + bias
    tl.store(y_ptr + row[:, None] * y_m + column[None, :] * y_n, y, mask=inside)


def combined_activation(input, weight1, weight2, bias, *, out=None):
    M, K = input.shape
    N = weight1.shape[1]
    y = torch.empty((M, N), dtype=input.dtype, device=input.device) if out is None else out
    weight2, bias = weight2.expand(M, N), bias.expand(M, N)
    BM, BN, BK, warps = (64, 64, 32, 4) if M * N < 1 << 21 else (128, 64, 32, 4)
    if y.numel():
        combined_kernel[(triton.cdiv(M, BM) * triton.cdiv(N, BN),)](
            input, weight1, weight2, bias, y, M, N, K, *input.stride(), *weight1.stride(), *weight2.stride(),
            *bias.stride(), *y.stride(), BM, BN, BK, num_warps=warps, num_stages=3,
        )  # fmt: skip
    return y
