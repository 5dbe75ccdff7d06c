"""Convolution as a matrix product that is never laid out (implicit GEMM).

A program computes a tile of output channels of one group by a patch of output pixels; the sum over input channel,
filter row and filter column is one axis k, cut into blocks, and the pixels that a block needs are gathered as it goes.
An address is one sum, of what depends on the pixel and what depends on k, and pixels are the last axis: loads and
stores run along rows. float32 is multiplied in three passes of TF32, which lose no more than float32 itself. Where
channels and taps are few a product of matrices would mostly multiply padding: one warp then adds up, value by value of
k, what it loads straight into registers.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def conv_kernel(
    x_ptr, w_ptr, bias_ptr, y_ptr, F, K, H, W, OH, OW, down, across, x_n, x_c, x_h, x_w, w_o, w_c, w_h, w_w, bias_o,
    stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w,
    KH: tl.constexpr, KW: tl.constexpr, PADDED: tl.constexpr, BIAS: tl.constexpr,
    BLOCK_O: tl.constexpr, BLOCK_Y: tl.constexpr, BLOCK_X: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    """down * across patches an image."""
    group, image = tl.program_id(2).to(tl.int64), (tl.program_id(0) // (down * across)).to(tl.int64)
    p = tl.arange(0, BLOCK_Y * BLOCK_X)
    y = tl.program_id(0) // across % down * BLOCK_Y + p // BLOCK_X
    x = tl.program_id(0) % across * BLOCK_X + p % BLOCK_X
    o = tl.program_id(1) * BLOCK_O + tl.arange(0, BLOCK_O)
    inside, used, channel = (y < OH) & (x < OW), o < F, group * F + o
    top, left = y * stride_h - pad_h, x * stride_w - pad_w
    x_at = x_ptr + group * (K // (KH * KW)) * x_c + image * x_n + top.to(tl.int64) * x_h + left.to(tl.int64) * x_w
    w_at = w_ptr + channel * w_o
    total = tl.zeros((BLOCK_O, BLOCK_Y * BLOCK_X), tl.float32)
    if BLOCK_K == 1:
        for n in range(0, K // KW):  # a filter row of a channel
            c, i = (n // KH).to(tl.int64), n % KH
            row = top + i * dilation_h
            for j in tl.static_range(KW):
                seen = inside
                if PADDED:
                    column = left + j * dilation_w
                    seen &= (row >= 0) & (row < H) & (column >= 0) & (column < W)
                value = tl.load(x_at + (c * x_c + i * dilation_h * x_h + j * dilation_w * x_w), mask=seen, other=0.0)
                w = tl.load(w_at + (c * w_c + i * w_h + j * w_w), mask=used, other=0.0)
                total += w[:, None] * value[None, :]
    else:
        for start in range(0, K, BLOCK_K):
            k = start + tl.arange(0, BLOCK_K)
            c, i, j = (k // (KH * KW)).to(tl.int64), k // KW % KH, k % KW
            seen = inside[None, :] & (k < K)[:, None]
            if PADDED:
                row, column = top[None, :] + (i * dilation_h)[:, None], left[None, :] + (j * dilation_w)[:, None]
                seen &= (row >= 0) & (row < H) & (column >= 0) & (column < W)
            x_k = c * x_c + i * dilation_h * x_h + j * dilation_w * x_w
            value = tl.load(x_at[None, :] + x_k[:, None], mask=seen, other=0.0)
            w_k = c * w_c + i * w_h + j * w_w
            w = tl.load(w_at[:, None] + w_k[None, :], mask=used[:, None] & (k < K)[None, :], other=0.0)
            total = tl.dot(w, value, total, input_precision="tf32x3")
    if BIAS:
        total += tl.load(bias_ptr + channel * bias_o, mask=used, other=0.0)[:, None]
    y_ptr += image * (tl.num_programs(2) * F) * OH * OW
    y_at = y_ptr + (channel * OH * OW)[:, None] + (y.to(tl.int64) * OW + x)[None, :]
    tl.store(y_at, total, mask=used[:, None] & inside[None, :])


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


def conv2d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
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
    F, K = out_channels // groups, C * KH * KW
    output = torch.empty((N, out_channels, OH, OW), dtype=input.dtype, device=input.device)
    if output.numel():
        few = F <= 16 and K <= 64
        block_o = max(1 if few else 16, min(128 if F > 64 else 64, triton.next_power_of_2(F)))
        down, across, block_y, block_x = patches(OH, OW, min(512, 2048 // block_o) if few else 64)
        conv_kernel[(N * down * across, triton.cdiv(F, block_o), groups)](
            input, weight, output if bias is None else bias, output, F, K, H, W, OH, OW, down, across,
            *input.stride(), *weight.stride(), 0 if bias is None else bias.stride(0), *stride, *pad, *dilation,
            KH, KW, any(pad + pad_end), bias is not None, block_o, block_y, block_x, 1 if few else 32,
            num_warps=1 if few else 8 if block_o > 64 else 4, num_stages=3 if K > 32 else 1,
        )  # fmt: skip
    return output.squeeze(0) if single else output
