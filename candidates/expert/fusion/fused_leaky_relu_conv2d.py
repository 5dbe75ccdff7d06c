"""Convolution and leaky rectification as a matrix product that is never laid out (implicit GEMM).

A program computes a tile of output pixels by output channels of one group; the sum over input channel, filter row and
filter column is one axis k, cut into blocks, and the pixels that a block needs are gathered as it goes.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def conv_leaky_relu_kernel(
    x_ptr, w_ptr, bias_ptr, y_ptr, PIXELS, F, K, H, W, KH, KW, OH, OW,
    x_n, x_c, x_h, x_w, w_o, w_c, w_h, w_w, bias_o,
    stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w, negative_slope,
    HAS_BIAS: tl.constexpr, BLOCK_P: tl.constexpr, BLOCK_O: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    group = tl.program_id(2).to(tl.int64)
    p = tl.program_id(0).to(tl.int64) * BLOCK_P + tl.arange(0, BLOCK_P)
    o = tl.program_id(1) * BLOCK_O + tl.arange(0, BLOCK_O)
    image = p // (OH * OW)
    top = (p // OW % OH * stride_h - pad_h)[:, None]
    left = (p % OW * stride_w - pad_w)[:, None]
    x_ptr += group * (K // (KH * KW)) * x_c
    w_ptr += group * F * w_o
    total = tl.zeros((BLOCK_P, BLOCK_O), tl.float32)
    for start in range(0, K, BLOCK_K):
        k = start + tl.arange(0, BLOCK_K)
        c = (k // (KH * KW)).to(tl.int64)
        i = k // KW % KH
        j = k % KW
        row = top + (i * dilation_h)[None, :]
        column = left + (j * dilation_w)[None, :]
        inside = (p < PIXELS)[:, None] & (k < K)[None, :] & (row >= 0) & (row < H) & (column >= 0) & (column < W)
        x_at = x_ptr + (image * x_n)[:, None] + (c * x_c)[None, :] + row * x_h + column * x_w
        w_at = w_ptr + (o.to(tl.int64) * w_o)[None, :] + (c * w_c + i * w_h + j * w_w)[:, None]
        x = tl.load(x_at, mask=inside, other=0.0)
        w = tl.load(w_at, mask=(k < K)[:, None] & (o < F)[None, :], other=0.0)
        total = tl.dot(x, w, total, input_precision="ieee")
    channel = group * F + o
    if HAS_BIAS:
        total += tl.load(bias_ptr + channel * bias_o, mask=o < F, other=0.0)[None, :]
    total = tl.where(total > 0.0, total, negative_slope * total)
    channels = tl.num_programs(2) * F
    y_at = y_ptr + ((image * channels)[:, None] + channel[None, :]) * (OH * OW) + (p % (OH * OW))[:, None]
    tl.store(y_at, total, mask=(p < PIXELS)[:, None] & (o < F)[None, :])


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


def fused_leaky_relu_conv2d(
    input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, negative_slope=0.01, inplace=False
):
    single = input.dim() == 3
    if single:
        input = input.unsqueeze(0)
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
    F = out_channels // groups
    output = torch.empty((N, out_channels, OH, OW), dtype=input.dtype, device=input.device)
    if output.numel():
        pixels = N * OH * OW
        block_p, block_o, warps = (64, 32, 4) if pixels * F < 2**20 else (128, 64, 8)
        block_o = min(block_o, max(16, triton.next_power_of_2(F)))
        grid = (triton.cdiv(pixels, block_p), triton.cdiv(F, block_o), groups)
        conv_leaky_relu_kernel[grid](
            input, weight, output if bias is None else bias, output, pixels, F, C * KH * KW, H, W, KH, KW, OH, OW,
            *input.stride(), *weight.stride(), 0 if bias is None else bias.stride(0), *stride, *pad, *dilation,
            float(negative_slope), bias is not None, BLOCK_P=block_p, BLOCK_O=block_o, BLOCK_K=32, num_warps=warps,
        )  # fmt: skip
    return output.squeeze(0) if single else output
