"""Convolution as a matrix product that is never laid out (implicit GEMM), and a scaled addend on its tiles.

A program computes a tile of output channels of one group by output pixels; the sum over input channel, filter row and
filter column is one axis k, cut into blocks, and the pixels that a block needs are gathered as it goes. An address is
one sum, of what depends on the pixel and what depends on k, and pixels are the last axis: loads run along rows.
float32 is multiplied in three passes of TF32, which lose no more than float32 itself.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def conv_add_kernel(
    x_ptr, w_ptr, bias_ptr, other_ptr, y_ptr, PIXELS, F, K, H, W, OH, OW, x_n, x_c, x_h, x_w, w_o, w_c, w_h, w_w,
    o_n, o_c, o_h, o_w, stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w, number, alpha,
    KH: tl.constexpr, KW: tl.constexpr, BIAS: tl.constexpr, OTHER: tl.constexpr,
    BLOCK_O: tl.constexpr, BLOCK_P: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    group, first = tl.program_id(2).to(tl.int64), tl.program_id(0).to(tl.int64) * BLOCK_P
    o = tl.program_id(1) * BLOCK_O + tl.arange(0, BLOCK_O)
    plane = OH * OW
    p = (first % plane).to(tl.int32) + tl.arange(0, BLOCK_P)
    image = first // plane + p // plane
    inside = image * plane < PIXELS
    p %= plane
    top, left = p // OW * stride_h - pad_h, p % OW * stride_w - pad_w
    channel = group * F + o
    x_at = x_ptr + group * (K // (KH * KW)) * x_c + image * x_n + top.to(tl.int64) * x_h + left.to(tl.int64) * x_w
    w_at = w_ptr + channel * w_o
    total = tl.zeros((BLOCK_O, BLOCK_P), tl.float32)
    for start in range(0, K, BLOCK_K):
        k = start + tl.arange(0, BLOCK_K)
        c, i, j = (k // (KH * KW)).to(tl.int64), k // KW % KH, k % KW
        down, right = i * dilation_h, j * dilation_w
        row, column = down[:, None] + top[None, :], right[:, None] + left[None, :]
        seen = (row >= 0) & (row < H) & (column >= 0) & (column < W) & inside[None, :] & (k < K)[:, None]
        x = tl.load(x_at[None, :] + (c * x_c + down * x_h + right * x_w)[:, None], mask=seen, other=0.0)
        w_seen = (o < F)[:, None] & (k < K)[None, :]
        w = tl.load(w_at[:, None] + (c * w_c + i * w_h + j * w_w)[None, :], mask=w_seen, other=0.0)
        total = tl.dot(w, x, total, input_precision="tf32x3")
    inside = (o < F)[:, None] & inside[None, :]
    if BIAS:
        total += tl.load(bias_ptr + channel, mask=o < F, other=0.0)[:, None]
    if OTHER == "number":
        total += alpha * number
    if OTHER == "tensor":
        o_at = other_ptr + (image * o_n + p // OW * o_h + p % OW * o_w)[None, :] + (channel * o_c)[:, None]
        total += alpha * tl.load(o_at, mask=inside, other=0.0)
    y_at = y_ptr + (image * (tl.num_programs(2) * F * plane) + p)[None, :] + (channel * plane)[:, None]
    tl.store(y_at, total, mask=inside)


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


def fused_conv2d_add(
    input, weight, bias=None, other=None, stride=1, padding=0, dilation=1, groups=1, alpha=1, out=None
):
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
    if y.numel():
        F, pixels = out_channels // groups, N * OH * OW
        kind = "tensor" if isinstance(other, torch.Tensor) else "none" if other is None else "number"
        addend = other.expand(y.shape) if kind == "tensor" else y
        block_o, block_p = max(16, min(128, triton.next_power_of_2(F))), 64
        conv_add_kernel[(triton.cdiv(pixels, block_p), triton.cdiv(F, block_o), groups)](
            input, weight, y if bias is None else bias.contiguous(), addend, y, pixels, F, C * KH * KW, H, W, OH, OW,
            *input.stride(), *weight.stride(), *addend.stride(), *stride, *pad, *dilation,
            float(other) if kind == "number" else 0.0, float(alpha), KH, KW, bias is not None, kind,
            block_o, block_p, 16, num_warps=8 if block_o > 64 else 4,
        )  # fmt: skip
    return y if direct or out is None else out.copy_(y)
