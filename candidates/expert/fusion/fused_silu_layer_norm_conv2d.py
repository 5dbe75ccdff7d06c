"""Convolution as a matrix product that is never laid out (implicit GEMM), then layer normalisation and SiLU.

A program computes a tile of output pixels by output channels of one image and group; the sum over input channel, filter
row and filter column is one axis k, cut into blocks, and the pixels that a block needs are gathered as it goes. It also
leaves count, mean, and sum of squares about the mean, of its tile; a second launch merges those of an image as Chan,
Golub and LeVeque do, always in the same order and without cancellation, and a third normalises.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def conv_kernel(
    x_ptr, w_ptr, bias_ptr, y_ptr, part_ptr, GROUPS, F, K, H, W, KH, KW, OH, OW,
    x_n, x_c, x_h, x_w, w_o, w_c, w_h, w_w, stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w,
    BIAS: tl.constexpr, BLOCK_P: tl.constexpr, BLOCK_O: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    """part [images, 3, tiles of an image]: count, mean and m2 of every tile."""
    group = (tl.program_id(2) % GROUPS).to(tl.int64)
    image = (tl.program_id(2) // GROUPS).to(tl.int64)
    p = tl.program_id(0) * BLOCK_P + tl.arange(0, BLOCK_P)
    o = tl.program_id(1) * BLOCK_O + tl.arange(0, BLOCK_O)
    top = (p // OW * stride_h - pad_h)[:, None]
    left = (p % OW * stride_w - pad_w)[:, None]
    x_ptr += image * x_n + group * (K // (KH * KW)) * x_c
    w_ptr += group * F * w_o
    total = tl.zeros((BLOCK_P, BLOCK_O), tl.float32)
    for start in range(0, K, BLOCK_K):
        k = start + tl.arange(0, BLOCK_K)
        c = (k // (KH * KW)).to(tl.int64)
        i = k // KW % KH
        j = k % KW
        row = top + (i * dilation_h)[None, :]
        column = left + (j * dilation_w)[None, :]
        inside = (p < OH * OW)[:, None] & (k < K)[None, :] & (row >= 0) & (row < H) & (column >= 0) & (column < W)
        x_at = x_ptr + (c * x_c)[None, :] + row.to(tl.int64) * x_h + column * x_w
        w_at = w_ptr + (o.to(tl.int64) * w_o)[None, :] + (c * w_c + i * w_h + j * w_w)[:, None]
        x = tl.load(x_at, mask=inside, other=0.0)
        w = tl.load(w_at, mask=(k < K)[:, None] & (o < F)[None, :], other=0.0)
        total = tl.dot(x, w, total, input_precision="ieee")
    channel = group * F + o
    if BIAS:
        total += tl.load(bias_ptr + channel, mask=o < F, other=0.0)[None, :]
    inside = (p < OH * OW)[:, None] & (o < F)[None, :]
    y_at = y_ptr + (image * GROUPS * F + channel)[None, :] * (OH * OW) + p[:, None]
    tl.store(y_at, total, mask=inside)
    high = tl.minimum(OH * OW - tl.program_id(0) * BLOCK_P, BLOCK_P)
    count = (high * tl.minimum(F - tl.program_id(1) * BLOCK_O, BLOCK_O)).to(tl.float32)
    mean = tl.sum(tl.sum(tl.where(inside, total, 0.0), axis=1), axis=0) / count
    d = tl.where(inside, total - mean, 0.0)
    tiles = tl.num_programs(0) * tl.num_programs(1) * GROUPS
    tile = (tl.program_id(0) * tl.num_programs(1) + tl.program_id(1)) * GROUPS + group
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
    F, S = out_channels // groups, OH * OW
    block_p, block_o, warps = (64, 32, 4) if y.numel() < 2**20 else (128, 64, 8)
    block_o = min(block_o, max(16, triton.next_power_of_2(F)))
    tiles_p, tiles_o = triton.cdiv(S, block_p), triton.cdiv(F, block_o)
    tiles = tiles_p * tiles_o * groups
    parts = torch.empty((N, 3, tiles), dtype=torch.float32, device=x.device)
    mean, scale = (torch.empty(N, dtype=torch.float32, device=x.device) for _ in range(2))
    conv_kernel[(tiles_p, tiles_o, N * groups)](
        x, conv_weight, y if conv_bias is None else conv_bias.contiguous(), y, parts, groups, F, C * KH * KW,
        H, W, KH, KW, OH, OW, *x.stride(), *conv_weight.stride(), *stride, *pad, *dilation, conv_bias is not None,
        BLOCK_P=block_p, BLOCK_O=block_o, BLOCK_K=32, num_warps=warps,
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
