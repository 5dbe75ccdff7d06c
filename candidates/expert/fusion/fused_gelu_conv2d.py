"""Convolution as a matrix product that is never laid out (implicit GEMM), and GELU on its tiles.

A program computes a patch of output pixels by a tile of output channels of one group; the sum over input channel,
filter row and filter column is one axis k, cut into blocks, and the pixels that a block needs are gathered as it goes.
An address is one sum, of what depends on the pixel and what depends on k. float32 is multiplied in three TF32 products,
as exact as float32.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def conv_kernel(
    x_ptr, w_ptr, bias_ptr, y_ptr, F, K, H, W, OH, OW, down, across, x_n, x_c, x_h, x_w,
    stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w,
    KH: tl.constexpr, KW: tl.constexpr, PADDED: tl.constexpr, WIDE: tl.constexpr,
    BIAS: tl.constexpr, TANH: tl.constexpr,
    BLOCK_Y: tl.constexpr, BLOCK_X: tl.constexpr, BLOCK_O: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    """down * across patches an image, which is WIDE if offsets in it need 64 bits."""
    group, image = tl.program_id(2).to(tl.int64), (tl.program_id(0) // (down * across)).to(tl.int64)
    p = tl.arange(0, BLOCK_Y * BLOCK_X)
    y = tl.program_id(0) // across % down * BLOCK_Y + p // BLOCK_X
    x = tl.program_id(0) % across * BLOCK_X + p % BLOCK_X
    o = tl.program_id(1) * BLOCK_O + tl.arange(0, BLOCK_O)
    seen, used, channel = (y < OH) & (x < OW), o < F, group * F + o
    top, left = y * stride_h - pad_h, x * stride_w - pad_w
    x_at = x_ptr + group * (K // (KH * KW)) * x_c + image * x_n + top.to(tl.int64) * x_h + left.to(tl.int64) * x_w
    w_at = w_ptr + channel * K
    total = tl.zeros((BLOCK_Y * BLOCK_X, BLOCK_O), tl.float32)
    for start in range(0, K, BLOCK_K):
        k = start + tl.arange(0, BLOCK_K)
        c, i, j = k // (KH * KW), k // KW % KH, k % KW
        if WIDE:
            c = c.to(tl.int64)
        there = seen[:, None] & (k < K)[None, :]
        if PADDED:
            row, column = top[:, None] + (i * dilation_h)[None, :], left[:, None] + (j * dilation_w)[None, :]
            there &= (row.to(tl.uint32) < H) & (column.to(tl.uint32) < W)  # where less than 0 is large
        x_k = c * x_c + i * dilation_h * x_h + j * dilation_w * x_w
        value = tl.load(x_at[:, None] + x_k[None, :], mask=there, other=0.0)
        w = tl.load(w_at[None, :] + k[:, None], mask=(k < K)[:, None] & used[None, :], other=0.0)
        total = tl.dot(value, w, total, input_precision="tf32x3")
    if BIAS:
        total += tl.load(bias_ptr + channel, mask=used, other=0.0)[None, :]
    if TANH:
        u = 0.7978845608028654 * (total + 0.044715 * total * total * total)  # sqrt(2 / pi)
        total = total / (1.0 + tl.exp(-2.0 * u))  # (1 + tanh(u)) / 2 = 1 / (1 + exp(-2 u))
    else:
        total = 0.5 * total * (1.0 + tl.erf(total * 0.7071067811865476))
    y_ptr += image * (tl.num_programs(2) * F) * OH * OW
    y_at = y_ptr + (channel * OH * OW)[None, :] + (y.to(tl.int64) * OW + x)[:, None]
    tl.store(y_at, total, mask=seen[:, None] & used[None, :])


def pair(value):
    return (value, value) if isinstance(value, int) else (value[0], value[-1])


def before_and_after(padding, kernel, stride, dilation):
    """Zeros before and after each of the two axes."""
    if padding == "valid":
        return (0, 0), (0, 0)
    if padding == "same":
        if stride != (1, 1):
            raise RuntimeError("padding='same' is not supported for strided convolutions")
        total = [d * (k - 1) for k, d in zip(kernel, dilation, strict=True)]
        return tuple(n // 2 for n in total), tuple(n - n // 2 for n in total)
    if isinstance(padding, str):
        raise RuntimeError(f"padding is {padding!r}, wanted a number, a pair, 'valid' or 'same'")
    return pair(padding), pair(padding)


def patches(OH, OW, size):
    """How many patches of `size` pixels cover an image, down and across, and the sides that reach out least."""
    sides = [(size >> n, 1 << n) for n in range(size.bit_length())]
    tiled = [(triton.cdiv(OH, y), triton.cdiv(OW, x), y, x) for y, x in sides]
    return min(reversed(tiled), key=lambda each: each[0] * each[1])


def tile(pixels, F, K):
    """Pixels, channels and block along k of a tile, warps and stages."""
    block_o = max(16, min(64, triton.next_power_of_2(F)))
    block_k, stages = min(32, max(16, triton.next_power_of_2(K))), 3 if K > 32 else 1
    return (64 if pixels * F < 1 << 20 else 128), block_o, block_k, 4, stages


def fused_gelu_conv2d(
    input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, approximate="none", out=None
):
    if approximate not in ("none", "tanh"):
        raise RuntimeError(f"approximate must be 'none' or 'tanh', not {approximate!r}")
    N, channels, H, W = input.shape
    out_channels, C, KH, KW = weight.shape
    if channels != C * groups or out_channels % groups:
        raise RuntimeError(f"{channels} input and {out_channels} output channels do not fit {groups} groups of {C}")
    stride, dilation = pair(stride), pair(dilation)
    pad, pad_end = before_and_after(padding, (KH, KW), stride, dilation)
    OH = (H + pad[0] + pad_end[0] - dilation[0] * (KH - 1) - 1) // stride[0] + 1
    OW = (W + pad[1] + pad_end[1] - dilation[1] * (KW - 1) - 1) // stride[1] + 1
    if OH <= 0 or OW <= 0:
        raise RuntimeError(f"a filter of {KH} x {KW} does not fit an input of {H} x {W}")
    direct = out is not None and out.is_contiguous()
    y = out if direct else torch.empty((N, out_channels, OH, OW), dtype=input.dtype, device=input.device)
    if not y.numel():
        return y if out is None else out
    F, K = out_channels // groups, C * KH * KW
    block_p, block_o, block_k, warps, stages = tile(N * OH * OW, F, K)
    down, across, block_y, block_x = patches(OH, OW, block_p)
    wide = sum((n - 1) * step for n, step in zip(input.shape[1:], input.stride()[1:], strict=True)) >= 2**31
    conv_kernel[(N * down * across, triton.cdiv(F, block_o), groups)](
        input, weight.contiguous(), y if bias is None else bias.contiguous(), y, F, K, H, W, OH, OW, down, across,
        *input.stride(), *stride, *pad, *dilation,
        KH, KW, any(pad + pad_end), wide, bias is not None, approximate == "tanh", block_y, block_x, block_o, block_k,
        num_warps=warps, num_stages=stages,
    )  # fmt: skip
    return y if direct or out is None else out.copy_(y)
