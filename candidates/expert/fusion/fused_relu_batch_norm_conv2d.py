"""Convolution as a matrix product that is never laid out (implicit GEMM), batch normalisation and ReLU on its tiles.

A program computes a patch of output pixels by a tile of output channels of one group; the sum over input channel,
filter row and filter column is one axis k, cut into blocks, and the pixels that a block needs are gathered as it goes.
An address is one sum, of what depends on the pixel and what depends on k. float32 is multiplied in three TF32 products,
as exact as float32.

With known statistics the tile is normalised where it is. In training the convolution is written, together with each
tile's mean, and sum of squares about it, of every channel; a second launch merges these as Chan, Golub and LeVeque do,
always in the same order and without cancellation, and a third normalises.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def conv_kernel(
    x_ptr, w_ptr, bias_ptr, mean_ptr, var_ptr, gain_ptr, shift_ptr, y_ptr, F, K, H, W, OH, OW, down, across,
    x_n, x_c, x_h, x_w, stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w, eps,
    KH: tl.constexpr, KW: tl.constexpr, PADDED: tl.constexpr, WIDE: tl.constexpr,
    BIAS: tl.constexpr, GAIN: tl.constexpr, SHIFT: tl.constexpr, TRAINING: tl.constexpr,
    BLOCK_Y: tl.constexpr, BLOCK_X: tl.constexpr, BLOCK_O: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    """down * across patches an image, which is WIDE if offsets in it need 64 bits.

    In training mean and var are room for mean and m2 of every patch, [channels, patches].
    """
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
    inside = seen[:, None] & used[None, :]
    if BIAS:
        total += tl.load(bias_ptr + channel, mask=used, other=0.0)[None, :]
    if TRAINING:
        count = tl.minimum(OH - tl.program_id(0) // across % down * BLOCK_Y, BLOCK_Y)
        count *= tl.minimum(OW - tl.program_id(0) % across * BLOCK_X, BLOCK_X)
        mean = tl.sum(tl.where(inside, total, 0.0), axis=0) / count
        d = tl.where(inside, total - mean[None, :], 0.0)
        part = channel * tl.num_programs(0) + tl.program_id(0)
        tl.store(mean_ptr + part, mean, mask=used)
        tl.store(var_ptr + part, tl.sum(d * d, axis=0), mask=used)
    else:
        mean = tl.load(mean_ptr + channel, mask=used, other=0.0)
        scale = tl.rsqrt(tl.load(var_ptr + channel, mask=used, other=1.0) + eps)
        if GAIN:
            scale *= tl.load(gain_ptr + channel, mask=used, other=0.0)
        total = (total - mean[None, :]) * scale[None, :]
        if SHIFT:
            total += tl.load(shift_ptr + channel, mask=used, other=0.0)[None, :]
        total = tl.where(total < 0.0, 0.0, total)  # unlike tl.maximum this keeps NaN
    y_ptr += image * (tl.num_programs(2) * F) * OH * OW
    y_at = y_ptr + (channel * OH * OW)[None, :] + (y.to(tl.int64) * OW + x)[:, None]
    tl.store(y_at, total, mask=inside)


@triton.jit
def merge_kernel(
    means_ptr, squares_ptr, mean_ptr, var_ptr, running_mean_ptr, running_var_ptr, mean_stride, var_stride,
    C, PIXELS, OH, OW, down, across, parts, momentum,
    BLOCK_Y: tl.constexpr, BLOCK_X: tl.constexpr, CHANNELS: tl.constexpr, PARTS: tl.constexpr,
):  # fmt: skip
    """Mean and variance of every channel from mean and m2 of its parts, the patches of all images."""
    channel = tl.program_id(0) * CHANNELS + tl.arange(0, CHANNELS)
    mine = channel < C
    row = channel.to(tl.int64)[:, None] * parts
    weighted = tl.zeros((CHANNELS, PARTS), tl.float32)
    for first in range(0, parts, PARTS):
        part = (first + tl.arange(0, PARTS))[None, :]
        count = tl.minimum(OH - part // across % down * BLOCK_Y, BLOCK_Y)
        count *= tl.minimum(OW - part % across * BLOCK_X, BLOCK_X)
        weighted += count * tl.load(means_ptr + row + part, mask=mine[:, None] & (part < parts), other=0.0)
    mean = tl.sum(weighted, axis=1) / PIXELS
    squares = tl.zeros((CHANNELS, PARTS), tl.float32)
    for first in range(0, parts, PARTS):
        part = (first + tl.arange(0, PARTS))[None, :]
        inside = mine[:, None] & (part < parts)
        count = tl.minimum(OH - part // across % down * BLOCK_Y, BLOCK_Y)
        count *= tl.minimum(OW - part % across * BLOCK_X, BLOCK_X)
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
    F, K = out_channels // groups, C * KH * KW
    block_p, block_o, block_k, warps, stages = tile(pixels, F, K)
    down, across, block_y, block_x = patches(OH, OW, block_p)
    tiles = N * down * across
    if training:
        means, squares = (torch.empty((out_channels, tiles), device=y.device) for _ in range(2))
    else:
        means, squares = running_mean.contiguous(), running_var.contiguous()
    bias, gain, shift = (v if v is None else v.contiguous() for v in (bias, bn_weight, bn_bias))
    given = [v is not None for v in (bias, gain, shift)]
    bias, gain, shift = (y if v is None else v for v in (bias, gain, shift))
    wide = sum((n - 1) * step for n, step in zip(input.shape[1:], input.stride()[1:], strict=True)) >= 2**31
    conv_kernel[(tiles, triton.cdiv(F, block_o), groups)](
        input, weight.contiguous(), bias, means, squares, gain, shift, y, F, K, H, W, OH, OW, down, across,
        *input.stride(), *stride, *pad, *dilation, float(eps), KH, KW, any(pad + pad_end), wide, *given, training,
        block_y, block_x, block_o, block_k, num_warps=warps, num_stages=stages,
    )  # fmt: skip
    if training:
        mean, var = (torch.empty(out_channels, device=y.device) for _ in range(2))
        width = min(triton.next_power_of_2(tiles), 256)
        height = min(triton.next_power_of_2(out_channels), 2048 // width)
        merge_kernel[(triton.cdiv(out_channels, height),)](
            means, squares, mean, var, running_mean, running_var, running_mean.stride(0), running_var.stride(0),
            out_channels, pixels, OH, OW, down, across, tiles, float(momentum),
            BLOCK_Y=block_y, BLOCK_X=block_x, CHANNELS=height, PARTS=width,
        )  # fmt: skip
        block = min(triton.next_power_of_2(OH * OW), 4096)
        rows = min(triton.next_power_of_2(N * out_channels), 4096 // block)
        normalize_relu_kernel[(triton.cdiv(N * out_channels, rows), triton.cdiv(OH * OW, block))](
            y, mean, var, gain, shift, N * out_channels, out_channels, OH * OW, float(eps), *given[1:],
            ROWS=rows, BLOCK=block, num_warps=8,
        )  # fmt: skip
    return y
