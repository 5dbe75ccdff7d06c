"""Convolution as a matrix product that is never laid out (implicit GEMM), then layer normalisation and SiLU.

A program computes a patch of output pixels by a tile of output channels of one group; the sum over input channel,
filter row and filter column is one axis k, cut into blocks, and the pixels that a block needs are gathered as it goes.
An address is one sum, of what depends on the pixel and what depends on k. float32 is multiplied in three TF32 products,
as exact as float32.

A program also leaves count, mean, and sum of squares about the mean, of its tile; a second launch merges those of an
image as Chan, Golub and LeVeque do, always in the same order and without cancellation, and a third normalises.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def conv_kernel(
    x_ptr, w_ptr, bias_ptr, y_ptr, part_ptr, F, K, H, W, OH, OW, down, across, x_n, x_c, x_h, x_w,
    stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w,
    KH: tl.constexpr, KW: tl.constexpr, PADDED: tl.constexpr, WIDE: tl.constexpr, BIAS: tl.constexpr,
    BLOCK_Y: tl.constexpr, BLOCK_X: tl.constexpr, BLOCK_O: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    """part [images, 3, tiles of an image]: count, mean and m2 of every tile, of which down * across hold all pixels.

    An image is WIDE if offsets in it need 64 bits.
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
    if BIAS:
        total += tl.load(bias_ptr + channel, mask=used, other=0.0)[None, :]
    inside = seen[:, None] & used[None, :]
    y_ptr += image * (tl.num_programs(2) * F) * OH * OW
    y_at = y_ptr + (channel * OH * OW)[None, :] + (y.to(tl.int64) * OW + x)[:, None]
    tl.store(y_at, total, mask=inside)
    count = tl.minimum(OH - tl.program_id(0) // across % down * BLOCK_Y, BLOCK_Y)
    count *= tl.minimum(OW - tl.program_id(0) % across * BLOCK_X, BLOCK_X)
    count = (count * tl.minimum(F - tl.program_id(1) * BLOCK_O, BLOCK_O)).to(tl.float32)
    mean = tl.sum(tl.sum(tl.where(inside, total, 0.0), axis=1), axis=0) / count
    d = tl.where(inside, total - mean, 0.0)
    tiles = down * across * tl.num_programs(1) * tl.num_programs(2)
    tile = tl.program_id(0) % (down * across) * tl.num_programs(1) + tl.program_id(1)
    tile = tile * tl.num_programs(2) + tl.program_id(2)
    part_ptr += image * 3 * tiles + tile
    tl.store(part_ptr, count)
    tl.store(part_ptr + tiles, mean)
    tl.store(part_ptr + 2 * tiles, tl.sum(tl.sum(d * d, axis=1), axis=0))


@triton.jit
def merge_kernel(part_ptr, mean_ptr, scale_ptr, tiles, size, eps, BLOCK: tl.constexpr):
    """Mean and 1 / sqrt(variance + eps) of an image of `size` values from its tiles."""
    part_ptr += tl.program_id(0).to(tl.int64) * 3 * tiles
    weighted = tl.zeros((BLOCK,), tl.float32)
    for first in range(0, tiles, BLOCK):
        tile = first + tl.arange(0, BLOCK)
        count = tl.load(part_ptr + tile, mask=tile < tiles, other=0.0)
        weighted += count * tl.load(part_ptr + tiles + tile, mask=tile < tiles, other=0.0)
    mean = tl.sum(weighted, axis=0) / size
    squares = tl.zeros((BLOCK,), tl.float32)
    for first in range(0, tiles, BLOCK):
        tile = first + tl.arange(0, BLOCK)
        count = tl.load(part_ptr + tile, mask=tile < tiles, other=0.0)
        d = tl.load(part_ptr + tiles + tile, mask=tile < tiles, other=0.0) - mean
        squares += tl.load(part_ptr + 2 * tiles + tile, mask=tile < tiles, other=0.0) + count * d * d
    tl.store(mean_ptr + tl.program_id(0), mean)
    tl.store(scale_ptr + tl.program_id(0), tl.rsqrt(tl.sum(squares, axis=0) / size + eps))


@triton.jit
def normalize_silu_kernel(
    y_ptr, mean_ptr, scale_ptr, gain_ptr, rows, C, S, GAIN: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr
):
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    mean = tl.load(mean_ptr + row // C, mask=row < rows)
    scale = tl.load(scale_ptr + row // C, mask=row < rows)
    if GAIN:
        scale *= tl.load(gain_ptr + row % C)
    s = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = (row < rows)[:, None] & (s < S)[None, :]
    at = y_ptr + row[:, None] * S + s[None, :]
    z = (tl.load(at, mask=inside) - mean[:, None]) * scale[:, None]
    tl.store(at, z / (1.0 + tl.exp(-z)), mask=inside)


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


def fused_silu_layer_norm_conv2d(
    x, weight, conv_weight, conv_bias=None, conv_stride=1, conv_padding=0, conv_dilation=1, conv_groups=1, ln_eps=1e-5
):
    N, channels, H, W = x.shape
    out_channels, C, KH, KW = conv_weight.shape
    groups = conv_groups
    if channels != C * groups or out_channels % groups:
        raise RuntimeError(f"{channels} input and {out_channels} output channels do not fit {groups} groups of {C}")
    stride, dilation = pair(conv_stride), pair(conv_dilation)
    pad, pad_end = before_and_after(conv_padding, (KH, KW), stride, dilation)
    OH = (H + pad[0] + pad_end[0] - dilation[0] * (KH - 1) - 1) // stride[0] + 1
    OW = (W + pad[1] + pad_end[1] - dilation[1] * (KW - 1) - 1) // stride[1] + 1
    if OH <= 0 or OW <= 0:
        raise RuntimeError(f"a filter of {KH} x {KW} does not fit an input of {H} x {W}")
    y = torch.empty((N, out_channels, OH, OW), dtype=x.dtype, device=x.device)
    if not y.numel():
        return y
    F, K, S = out_channels // groups, C * KH * KW, OH * OW
    block_p, block_o, block_k, warps, stages = tile(N * S, F, K)
    down, across, block_y, block_x = patches(OH, OW, block_p)
    tiles_o = triton.cdiv(F, block_o)
    tiles = down * across * tiles_o * groups
    parts = torch.empty((N, 3, tiles), dtype=torch.float32, device=x.device)
    mean, scale = (torch.empty(N, dtype=torch.float32, device=x.device) for _ in range(2))
    wide = sum((n - 1) * step for n, step in zip(x.shape[1:], x.stride()[1:], strict=True)) >= 2**31
    conv_kernel[(N * down * across, tiles_o, groups)](
        x, conv_weight.contiguous(), y if conv_bias is None else conv_bias.contiguous(), y, parts, F, K, H, W, OH, OW,
        down, across, *x.stride(), *stride, *pad, *dilation, KH, KW, any(pad + pad_end), wide, conv_bias is not None,
        block_y, block_x, block_o, block_k, num_warps=warps, num_stages=stages,
    )  # fmt: skip
    width = min(triton.next_power_of_2(tiles), 2048)
    merge_kernel[(N,)](parts, mean, scale, tiles, out_channels * S, float(ln_eps), BLOCK=width)
    block = min(triton.next_power_of_2(S), 4096)
    rows = min(triton.next_power_of_2(N * out_channels), 4096 // block)
    normalize_silu_kernel[(triton.cdiv(N * out_channels, rows), triton.cdiv(S, block))](
        y, mean, scale, y if weight is None else weight.contiguous(), N * out_channels, out_channels, S,
        weight is not None, rows, block, num_warps=8,
    )  # fmt: skip
    return y
