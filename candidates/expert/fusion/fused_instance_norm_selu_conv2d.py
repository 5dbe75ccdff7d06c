"""Convolution as a matrix product that is never laid out (implicit GEMM), SELU and instance normalisation.

A program computes a patch of output pixels by a tile of output channels of one group; the sum over input channel,
filter row and filter column is one axis k, cut into blocks, and the pixels that a block needs are gathered as it goes.
An address is one sum, of what depends on the pixel and what depends on k. float32 is multiplied in three TF32 products,
as exact as float32.

SELU is written, together with every tile's mean, and sum of squares about it, of every channel. A second launch merges
these as Chan, Golub and LeVeque do, always in the same order and without cancellation, and a third normalises.
"""

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def conv_kernel(
    x_ptr, w_ptr, bias_ptr, means_ptr, squares_ptr, y_ptr, F, K, H, W, OH, OW, down, across, x_n, x_c, x_h, x_w,
    stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w,
    KH: tl.constexpr, KW: tl.constexpr, PADDED: tl.constexpr, WIDE: tl.constexpr, BIAS: tl.constexpr,
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
    inside = seen[:, None] & used[None, :]
    if BIAS:
        total += tl.load(bias_ptr + channel, mask=used, other=0.0)[None, :]
    scale: tl.constexpr = 1.0507009873554805
    alpha: tl.constexpr = 1.6732632423543772
    total = tl.where(total > 0, scale * total, scale * alpha * libdevice.expm1(total))
    plane = image * (tl.num_programs(2) * F) + channel
    tl.store(y_ptr + (plane * OH * OW)[None, :] + (y.to(tl.int64) * OW + x)[:, None], total, mask=inside)
    count = tl.minimum(OH - tl.program_id(0) // across % down * BLOCK_Y, BLOCK_Y)
    count *= tl.minimum(OW - tl.program_id(0) % across * BLOCK_X, BLOCK_X)
    mean = tl.sum(tl.where(inside, total, 0.0), axis=0) / count
    d = tl.where(inside, total - mean[None, :], 0.0)
    part = plane * (down * across) + tl.program_id(0) % (down * across)
    tl.store(means_ptr + part, mean, mask=used)
    tl.store(squares_ptr + part, tl.sum(d * d, axis=0), mask=used)


@triton.jit
def merge_kernel(
    means_ptr, squares_ptr, mean_ptr, scale_ptr, rows, OH, OW, across, parts, eps,
    BLOCK_Y: tl.constexpr, BLOCK_X: tl.constexpr, ROWS: tl.constexpr, PARTS: tl.constexpr,
):  # fmt: skip
    """Mean and 1 / deviation of a plane from mean and m2 of its parts, the patches."""
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    first_part = row.to(tl.int64)[:, None] * parts
    weighted = tl.zeros((ROWS, PARTS), tl.float32)
    for first in range(0, parts, PARTS):
        part = (first + tl.arange(0, PARTS))[None, :]
        inside = (row < rows)[:, None] & (part < parts)
        n = tl.minimum(OH - part // across * BLOCK_Y, BLOCK_Y) * tl.minimum(OW - part % across * BLOCK_X, BLOCK_X)
        weighted += n * tl.load(means_ptr + first_part + part, mask=inside, other=0.0)
    mean = tl.sum(weighted, axis=1) / (OH * OW)
    squares = tl.zeros((ROWS, PARTS), tl.float32)
    for first in range(0, parts, PARTS):
        part = (first + tl.arange(0, PARTS))[None, :]
        inside = (row < rows)[:, None] & (part < parts)
        n = tl.minimum(OH - part // across * BLOCK_Y, BLOCK_Y) * tl.minimum(OW - part % across * BLOCK_X, BLOCK_X)
        d = tl.load(means_ptr + first_part + part, mask=inside, other=0.0) - mean[:, None]
        squares += tl.load(squares_ptr + first_part + part, mask=inside, other=0.0) + tl.where(inside, n * d * d, 0.0)
    tl.store(mean_ptr + row, mean, mask=row < rows)
    tl.store(scale_ptr + row, tl.rsqrt(tl.sum(squares, axis=1) / (OH * OW) + eps), mask=row < rows)


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
    F, K, rows = out_channels // groups, C * KH * KW, N * out_channels
    block_p, block_o, block_k, warps, stages = tile(N * pixels, F, K)
    down, across, block_y, block_x = patches(OH, OW, block_p)
    tiles = down * across
    means, squares = (torch.empty((rows, tiles), dtype=torch.float32, device=y.device) for _ in range(2))
    wide = sum((n - 1) * step for n, step in zip(input.shape[1:], input.stride()[1:], strict=True)) >= 2**31
    conv_kernel[(N * tiles, triton.cdiv(F, block_o), groups)](
        input, weight.contiguous(), y if bias is None else bias.contiguous(), means, squares, y, F, K, H, W, OH, OW,
        down, across, *input.stride(), *stride, *pad, *dilation, KH, KW, any(pad + pad_end), wide, bias is not None,
        block_y, block_x, block_o, block_k, num_warps=warps, num_stages=stages,
    )  # fmt: skip
    mean, scale = (torch.empty(rows, dtype=torch.float32, device=y.device) for _ in range(2))
    width = min(triton.next_power_of_2(tiles), 2048)
    height = min(triton.next_power_of_2(rows), 2048 // width)
    merge_kernel[(triton.cdiv(rows, height),)](
        means, squares, mean, scale, rows, OH, OW, across, tiles, float(eps),
        BLOCK_Y=block_y, BLOCK_X=block_x, ROWS=height, PARTS=width,
    )  # fmt: skip
    block = min(triton.next_power_of_2(pixels), 4096)
    height = min(triton.next_power_of_2(rows), 4096 // block)
    normalise_kernel[(triton.cdiv(rows, height) * triton.cdiv(pixels, block),)](
        y, mean, scale, rows, pixels, ROWS=height, BLOCK=block, num_warps=8
    )
    return y
