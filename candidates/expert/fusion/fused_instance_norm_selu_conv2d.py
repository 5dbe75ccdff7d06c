"""Convolution as a matrix product that is never laid out (implicit GEMM), SELU and instance normalisation.

A program computes a tile of output pixels of one image by output channels of one group; the sum over input channel,
filter row and filter column is one axis k, cut into blocks, and the pixels that a block needs are gathered as it goes.

SELU is written, together with every tile's mean, and sum of squares about it, of every channel. A second launch merges
these as Chan, Golub and LeVeque do, always in the same order and without cancellation, and a third normalises.
"""

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def conv_kernel(
    x_ptr, w_ptr, bias_ptr, means_ptr, squares_ptr, y_ptr, tiles, PIXELS, F, K, H, W, KH, KW, OH, OW,
    x_n, x_c, x_h, x_w, w_o, w_c, w_h, w_w, stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w,
    BIAS: tl.constexpr, BLOCK_P: tl.constexpr, BLOCK_O: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    group = tl.program_id(2).to(tl.int64)
    image = (tl.program_id(0) // tiles).to(tl.int64)
    tile = tl.program_id(0) % tiles
    p = tile * BLOCK_P + tl.arange(0, BLOCK_P)
    o = tl.program_id(1) * BLOCK_O + tl.arange(0, BLOCK_O)
    top = (p // OW * stride_h - pad_h)[:, None]
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
        x_at = x_ptr + image * x_n + (c * x_c)[None, :] + row * x_h + column * x_w
        w_at = w_ptr + (o.to(tl.int64) * w_o)[None, :] + (c * w_c + i * w_h + j * w_w)[:, None]
        x = tl.load(x_at, mask=inside, other=0.0)
        w = tl.load(w_at, mask=(k < K)[:, None] & (o < F)[None, :], other=0.0)
        total = tl.dot(x, w, total, input_precision="ieee")
    channel = group * F + o
    channels = tl.num_programs(2) * F
    inside = (p < PIXELS)[:, None] & (o < F)[None, :]
    if BIAS:
        total += tl.load(bias_ptr + channel, mask=o < F, other=0.0)[None, :]
    scale: tl.constexpr = 1.0507009873554805
    alpha: tl.constexpr = 1.6732632423543772
    total = tl.where(total > 0, scale * total, scale * alpha * libdevice.expm1(total))
    plane = image * channels + channel
    tl.store(y_ptr + plane[None, :] * PIXELS + p[:, None], total, mask=inside)
    count = tl.minimum(PIXELS - tile * BLOCK_P, BLOCK_P)
    mean = tl.sum(tl.where(inside, total, 0.0), axis=0) / count
    d = tl.where(inside, total - mean[None, :], 0.0)
    tl.store(means_ptr + plane * tiles + tile, mean, mask=o < F)
    tl.store(squares_ptr + plane * tiles + tile, tl.sum(d * d, axis=0), mask=o < F)


@triton.jit
def merge_kernel(
    means_ptr, squares_ptr, mean_ptr, scale_ptr, rows, count, parts, eps,
    SIZE: tl.constexpr, ROWS: tl.constexpr, PARTS: tl.constexpr,
):  # fmt: skip
    """Mean and 1 / deviation of `count` values from mean and m2 of their parts of SIZE values each."""
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    first_part = row.to(tl.int64)[:, None] * parts
    weighted = tl.zeros((ROWS, PARTS), tl.float32)
    for first in range(0, parts, PARTS):
        part = (first + tl.arange(0, PARTS))[None, :]
        inside = (row < rows)[:, None] & (part < parts)
        n = tl.minimum(count - part * SIZE, SIZE)
        weighted += n * tl.load(means_ptr + first_part + part, mask=inside, other=0.0)
    mean = tl.sum(weighted, axis=1) / count
    squares = tl.zeros((ROWS, PARTS), tl.float32)
    for first in range(0, parts, PARTS):
        part = (first + tl.arange(0, PARTS))[None, :]
        inside = (row < rows)[:, None] & (part < parts)
        n = tl.minimum(count - part * SIZE, SIZE)
        d = tl.load(means_ptr + first_part + part, mask=inside, other=0.0) - mean[:, None]
        squares += tl.load(squares_ptr + first_part + part, mask=inside, other=0.0) + tl.where(inside, n * d * d, 0.0)
    tl.store(mean_ptr + row, mean, mask=row < rows)
    tl.store(scale_ptr + row, tl.rsqrt(tl.sum(squares, axis=1) / count + eps), mask=row < rows)


@triton.jit
def normalise_kernel(y_ptr, mean_ptr, scale_ptr, rows, S, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    across = tl.cdiv(S, BLOCK)
    row = (tl.program_id(0) // across).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    s = tl.program_id(0) % across * BLOCK + tl.arange(0, BLOCK)
    inside = (row < rows)[:, None] & (s < S)[None, :]
    mean = tl.load(mean_ptr + row, mask=row < rows, other=0.0)[:, None]
    scale = tl.load(scale_ptr + row, mask=row < rows, other=0.0)[:, None]
    y_at = y_ptr + row[:, None] * S + s[None, :]
    tl.store(y_at, (tl.load(y_at, mask=inside, other=0.0) - mean) * scale, mask=inside)


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


def fused_instance_norm_selu_conv2d(
    input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1,
    num_features=None, eps=1e-5, momentum=0.1, affine=False, track_running_stats=False,
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
    pixels = OH * OW
    if pixels < 2:
        raise ValueError("one value of a channel has no variance")
    y = torch.empty((N, out_channels, OH, OW), dtype=input.dtype, device=input.device)
    F, rows = out_channels // groups, N * out_channels
    if N * pixels * F < 2**20:
        block_p, block_o, warps = 64, 32, 4
    else:
        block_p, block_o, warps = 128, 64 if F <= 64 else 128, 8
    block_o = min(block_o, max(16, triton.next_power_of_2(F)))
    tiles = triton.cdiv(pixels, block_p)
    means, squares = (torch.empty((rows, tiles), dtype=torch.float32, device=y.device) for _ in range(2))
    conv_kernel[(N * tiles, triton.cdiv(F, block_o), groups)](
        input, weight, y if bias is None else bias.contiguous(), means, squares, y, tiles, pixels, F, C * KH * KW,
        H, W, KH, KW, OH, OW, *input.stride(), *weight.stride(), *stride, *pad, *dilation, bias is not None,
        BLOCK_P=block_p, BLOCK_O=block_o, BLOCK_K=32, num_warps=warps,
    )  # fmt: skip
    mean, scale = (torch.empty(rows, dtype=torch.float32, device=y.device) for _ in range(2))
    width = min(triton.next_power_of_2(tiles), 2048)
    height = min(triton.next_power_of_2(rows), 2048 // width)
    merge_kernel[(triton.cdiv(rows, height),)](
        means, squares, mean, scale, rows, pixels, tiles, float(eps), SIZE=block_p, ROWS=height, PARTS=width
    )
    block = min(triton.next_power_of_2(pixels), 4096)
    height = min(triton.next_power_of_2(rows), 4096 // block)
    normalise_kernel[(triton.cdiv(rows, height) * triton.cdiv(pixels, block),)](
        y, mean, scale, rows, pixels, ROWS=height, BLOCK=block, num_warps=8
    )
    return y
