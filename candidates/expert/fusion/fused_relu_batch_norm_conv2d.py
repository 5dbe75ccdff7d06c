"""Convolution as a matrix product that is never laid out (implicit GEMM), batch normalisation and ReLU on its tiles.

A program computes a tile of output pixels by output channels of one group; the sum over input channel, filter row and
filter column is one axis k, cut into blocks, and the pixels that a block needs are gathered as it goes.

With known statistics the tile is normalised where it is. In training the convolution is written, together with each
tile's mean, and sum of squares about it, of every channel; a second launch merges these as Chan, Golub and LeVeque do,
always in the same order and without cancellation, and a third normalises.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def conv_kernel(
    x_ptr, w_ptr, bias_ptr, mean_ptr, var_ptr, gain_ptr, shift_ptr, y_ptr, PIXELS, F, K, H, W, KH, KW, OH, OW,
    x_n, x_c, x_h, x_w, w_o, w_c, w_h, w_w, stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w, eps,
    BIAS: tl.constexpr, GAIN: tl.constexpr, SHIFT: tl.constexpr, TRAINING: tl.constexpr,
    BLOCK_P: tl.constexpr, BLOCK_O: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    """In training mean and var are room for mean and m2 of every tile, [channels, tiles]."""
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
    inside = (p < PIXELS)[:, None] & (o < F)[None, :]
    if BIAS:
        total += tl.load(bias_ptr + channel, mask=o < F, other=0.0)[None, :]
    if TRAINING:
        count = tl.minimum(PIXELS - tl.program_id(0) * BLOCK_P, BLOCK_P)
        mean = tl.sum(tl.where(inside, total, 0.0), axis=0) / count
        d = tl.where(inside, total - mean[None, :], 0.0)
        part = channel * tl.num_programs(0) + tl.program_id(0)
        tl.store(mean_ptr + part, mean, mask=o < F)
        tl.store(var_ptr + part, tl.sum(d * d, axis=0), mask=o < F)
    else:
        mean = tl.load(mean_ptr + channel, mask=o < F, other=0.0)
        scale = tl.rsqrt(tl.load(var_ptr + channel, mask=o < F, other=1.0) + eps)
        if GAIN:
            scale *= tl.load(gain_ptr + channel, mask=o < F, other=0.0)
        total = (total - mean[None, :]) * scale[None, :]
        if SHIFT:
            total += tl.load(shift_ptr + channel, mask=o < F, other=0.0)[None, :]
        total = tl.where(total < 0.0, 0.0, total)  # unlike tl.maximum this keeps NaN
    channels = tl.num_programs(2) * F
    y_at = y_ptr + ((image * channels)[:, None] + channel[None, :]) * (OH * OW) + (p % (OH * OW))[:, None]
    tl.store(y_at, total, mask=inside)


@triton.jit
def merge_kernel(
    means_ptr, squares_ptr, mean_ptr, var_ptr, running_mean_ptr, running_var_ptr, mean_stride, var_stride,
    C, PIXELS, parts, momentum, SIZE: tl.constexpr, CHANNELS: tl.constexpr, PARTS: tl.constexpr,
):  # fmt: skip
    """Mean and variance of every channel from mean and m2 of its parts of SIZE pixels each."""
    channel = tl.program_id(0) * CHANNELS + tl.arange(0, CHANNELS)
    mine = channel < C
    row = channel.to(tl.int64)[:, None] * parts
    weighted = tl.zeros((CHANNELS, PARTS), tl.float32)
    for first in range(0, parts, PARTS):
        part = (first + tl.arange(0, PARTS))[None, :]
        count = tl.minimum(PIXELS - part * SIZE, SIZE)
        weighted += count * tl.load(means_ptr + row + part, mask=mine[:, None] & (part < parts), other=0.0)
    mean = tl.sum(weighted, axis=1) / PIXELS
    squares = tl.zeros((CHANNELS, PARTS), tl.float32)
    for first in range(0, parts, PARTS):
        part = (first + tl.arange(0, PARTS))[None, :]
        inside = mine[:, None] & (part < parts)
        count = tl.minimum(PIXELS - part * SIZE, SIZE)
        d = tl.load(means_ptr + row + part, mask=inside, other=0.0) - mean[:, None]
        d = tl.where(inside, d, 0.0)
        squares += tl.load(squares_ptr + row + part, mask=inside, other=0.0) + count * d * d
    m2 = tl.sum(squares, axis=1)
    tl.store(mean_ptr + channel, mean, mask=mine)
    tl.store(var_ptr + channel, m2 / PIXELS, mask=mine)
    mean_ptrs = running_mean_ptr + channel * mean_stride
    var_ptrs = running_var_ptr + channel * var_stride
    new_mean = (1.0 - momentum) * tl.load(mean_ptrs, mask=mine) + momentum * mean
    new_var = (1.0 - momentum) * tl.load(var_ptrs, mask=mine) + momentum * (m2 / (PIXELS - 1))
    tl.store(mean_ptrs, new_mean, mask=mine)
    tl.store(var_ptrs, new_var, mask=mine)


@triton.jit
def normalize_relu_kernel(
    y_ptr, mean_ptr, var_ptr, gain_ptr, shift_ptr, rows, C, S, eps,
    GAIN: tl.constexpr, SHIFT: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    channel = row % C
    scale = tl.rsqrt(tl.load(var_ptr + channel) + eps)
    if GAIN:
        scale *= tl.load(gain_ptr + channel)
    mean = tl.load(mean_ptr + channel)
    shift = tl.load(shift_ptr + channel) if SHIFT else tl.zeros((ROWS,), tl.float32)
    s = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = (row < rows)[:, None] & (s < S)[None, :]
    at = y_ptr + row[:, None] * S + s[None, :]
    y = (tl.load(at, mask=inside) - mean[:, None]) * scale[:, None] + shift[:, None]
    tl.store(at, tl.where(y < 0.0, 0.0, y), mask=inside)


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


def fused_relu_batch_norm_conv2d(
    input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1,
    running_mean=None, running_var=None, bn_weight=None, bn_bias=None, training=False, momentum=0.1, eps=1e-5,
    inplace=False,
):  # fmt: skip
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
    pixels = N * OH * OW
    if training and pixels < 2:
        raise ValueError(f"{pixels} values of a channel have no variance to train with")
    y = torch.empty((N, out_channels, OH, OW), dtype=input.dtype, device=input.device)
    if not y.numel():
        return y
    F = out_channels // groups
    block_p, block_o, warps = (64, 32, 4) if pixels * F < 2**20 else (128, 64, 8)
    block_o = min(block_o, max(16, triton.next_power_of_2(F)))
    tiles = triton.cdiv(pixels, block_p)
    if training:
        means, squares = (torch.empty((out_channels, tiles), device=y.device) for _ in range(2))
    else:
        means, squares = running_mean.contiguous(), running_var.contiguous()
    bias, gain, shift = (v if v is None else v.contiguous() for v in (bias, bn_weight, bn_bias))
    given = [v is not None for v in (bias, gain, shift)]
    bias, gain, shift = (y if v is None else v for v in (bias, gain, shift))
    conv_kernel[(tiles, triton.cdiv(F, block_o), groups)](
        input, weight, bias, means, squares, gain, shift, y, pixels, F, C * KH * KW, H, W, KH, KW, OH, OW,
        *input.stride(), *weight.stride(), *stride, *pad, *dilation, float(eps), *given, training,
        BLOCK_P=block_p, BLOCK_O=block_o, BLOCK_K=32, num_warps=warps,
    )  # fmt: skip
    if training:
        mean, var = (torch.empty(out_channels, device=y.device) for _ in range(2))
        width = min(triton.next_power_of_2(tiles), 256)
        height = min(triton.next_power_of_2(out_channels), 2048 // width)
        merge_kernel[(triton.cdiv(out_channels, height),)](
            means, squares, mean, var, running_mean, running_var, running_mean.stride(0), running_var.stride(0),
            out_channels, pixels, tiles, float(momentum), SIZE=block_p, CHANNELS=height, PARTS=width,
        )  # fmt: skip
        block = min(triton.next_power_of_2(OH * OW), 4096)
        rows = min(triton.next_power_of_2(N * out_channels), 4096 // block)
        normalize_relu_kernel[(triton.cdiv(N * out_channels, rows), triton.cdiv(OH * OW, block))](
            y, mean, var, gain, shift, N * out_channels, out_channels, OH * OW, float(eps), *given[1:],
            ROWS=rows, BLOCK=block, num_warps=8,
        )  # fmt: skip
    return y
