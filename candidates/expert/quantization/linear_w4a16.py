"""Linear layer with an int4 weight.

Scheme: asymmetric, per group of 32 along K: 16 levels from the group's smallest to its largest weight,
w = low + step * q with step = (high - low) / 15. Two values lie in a byte, the even k in the low four bits. The product
unpacks a tile, restores it to float16, multiplies by the float16 activations and sums in float32.
"""

import torch
import triton
import triton.language as tl

GROUP = 32
# Adding and subtracting 1.5 * 2**23 rounds a small float32 to the nearest integer, ties to even.
ROUND = tl.constexpr(12582912.0)


@triton.jit
def quantize_groups(w_ptr, q_ptr, low_ptr, step_ptr, N, K, groups, stride_n, stride_k,
                    BLOCK_N: tl.constexpr, BLOCK_G: tl.constexpr, GROUP: tl.constexpr):
    """q [N, groups * GROUP / 2] bytes, low and step [N, groups], from w [N, K] with any strides."""
    n = (tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)).to(tl.int64)[:, None]
    k = tl.program_id(1) * BLOCK_G * GROUP + tl.arange(0, BLOCK_G * GROUP)[None, :]
    ok = (n < N) & (k < K)
    w = tl.load(w_ptr + n * stride_n + k.to(tl.int64) * stride_k, mask=ok, other=0.0).to(tl.float32)
    inf = float("inf")
    low = tl.min(tl.reshape(tl.where(ok, w, inf), (BLOCK_N, BLOCK_G, GROUP)), axis=2)
    high = tl.max(tl.reshape(tl.where(ok, w, -inf), (BLOCK_N, BLOCK_G, GROUP)), axis=2)
    step = (high - low) / 15.0
    w = tl.reshape(tl.where(ok, w, 0.0), (BLOCK_N, BLOCK_G, GROUP))
    levels = (w - low[:, :, None]) / tl.where(step > 0.0, step, 1.0)[:, :, None]
    levels = (levels + ROUND) - ROUND
    levels = tl.minimum(tl.maximum(levels, 0.0), 15.0).to(tl.uint8)
    even, odd = tl.split(tl.reshape(levels, (BLOCK_N, BLOCK_G * GROUP // 2, 2)))
    byte = tl.program_id(1) * (BLOCK_G * GROUP // 2) + tl.arange(0, BLOCK_G * GROUP // 2)[None, :]
    width = groups * (GROUP // 2)
    tl.store(q_ptr + n * width + byte, even | (odd << 4), mask=(n < N) & (byte < width))
    g = tl.program_id(1) * BLOCK_G + tl.arange(0, BLOCK_G)[None, :]
    tl.store(low_ptr + n * groups + g, low, mask=(n < N) & (g < groups))
    tl.store(step_ptr + n * groups + g, step, mask=(n < N) & (g < groups))


@triton.jit
def int4_linear(x_ptr, q_ptr, low_ptr, step_ptr, bias_ptr, y_ptr, M, N, K, groups, stride_xm, stride_xk, stride_bias,
                HAS_BIAS: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_G: tl.constexpr,
                GROUP: tl.constexpr):
    """y [M, N] = x [M, K] @ w.T + bias, w [N, K] unpacked on the way."""
    BLOCK_K: tl.constexpr = BLOCK_G * GROUP
    m = (tl.program_id(1) * BLOCK_M + tl.arange(0, BLOCK_M)).to(tl.int64)
    n = (tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)).to(tl.int64)
    k = tl.arange(0, BLOCK_K)
    byte = tl.arange(0, BLOCK_K // 2)
    g = tl.arange(0, BLOCK_G)
    width = groups * (GROUP // 2)
    n_ok = (n < N)[:, None]
    total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for start in range(0, K, BLOCK_K):
        x_at = x_ptr + m[:, None] * stride_xm + (start + k).to(tl.int64)[None, :] * stride_xk
        x = tl.load(x_at, mask=(m[:, None] < M) & (start + k[None, :] < K), other=0.0)
        at = start // 2 + byte[None, :]
        packed = tl.load(q_ptr + n[:, None] * width + at, mask=n_ok & (at < width), other=0)
        q = tl.reshape(tl.join(packed & 15, packed >> 4), (BLOCK_N, BLOCK_G, GROUP)).to(tl.float32)
        group = start // GROUP + g[None, :]
        known = n_ok & (group < groups)
        low = tl.load(low_ptr + n[:, None] * groups + group, mask=known, other=0.0)
        step = tl.load(step_ptr + n[:, None] * groups + group, mask=known, other=0.0)
        w = tl.reshape(low[:, :, None] + q * step[:, :, None], (BLOCK_N, BLOCK_K)).to(x.dtype)
        total = tl.dot(x, tl.trans(w), total)
    if HAS_BIAS:
        total += tl.load(bias_ptr + n * stride_bias, mask=n < N, other=0.0).to(tl.float32)[None, :]
    tl.store(y_ptr + m[:, None] * N + n[None, :], total.to(y_ptr.dtype.element_ty),
             mask=(m[:, None] < M) & (n[None, :] < N))


def linear_w4a16(input, weight, bias=None):
    M, K = input.shape
    N = weight.shape[0]
    output = torch.empty((M, N), dtype=input.dtype, device=input.device)
    if output.numel() == 0:
        return output
    groups = triton.cdiv(K, GROUP)
    packed = torch.empty((N, groups * GROUP // 2), dtype=torch.uint8, device=input.device)
    low = torch.empty((N, groups), dtype=torch.float32, device=input.device)
    step = torch.empty((N, groups), dtype=torch.float32, device=input.device)
    quantize_groups[(triton.cdiv(N, 32), triton.cdiv(groups, 4))](
        weight, packed, low, step, N, K, groups, weight.stride(0), weight.stride(1),
        BLOCK_N=32, BLOCK_G=4, GROUP=GROUP)
    # Few rows: the weight's bytes are what takes time, so many small programs read it. Many rows: large tiles.
    block_m, block_n = (16, 32) if M <= 16 else (32, 64) if M <= 64 else (128, 128)
    int4_linear[(triton.cdiv(N, block_n), triton.cdiv(M, block_m))](
        input, packed, low, step, output if bias is None else bias, output, M, N, K, groups,
        input.stride(0), input.stride(1), 0 if bias is None else bias.stride(0),
        HAS_BIAS=bias is not None, BLOCK_M=block_m, BLOCK_N=block_n, BLOCK_G=4 if M <= 64 else 2, GROUP=GROUP,
        num_warps=8 if M > 64 else 4, num_stages=3)
    return output
