"""Convolution, max pooling and ReLU: where windows hardly overlap what is convolved never goes to memory.

A program computes a tile of channels of one group by a patch of pooled pixels: for every place in the window one
product of matrices that are never laid out (implicit GEMM), and their maximum. The sum over input channel, filter row
and filter column is one axis k, cut into blocks, and the pixels that a block needs are gathered as it goes; pixels are
the last axis, so that loads run along rows. float32 is multiplied in three passes of TF32, which lose no more than
float32 itself. Where channels and taps are few a product of matrices would mostly multiply padding: one warp then adds
up, value by value of k, what it loads straight into registers.

Where windows overlap so much that to convolve anew for each costs more than to write and read (1 / 5 TB/s for 8 bytes,
2 / 50 TFLOP/s for every k), the same kernel convolves without pooling, and a second one pools.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def convolved(
    x_at, w_at, top, left, inside, used, K, H, W, x_c, x_h, x_w, w_c, w_h, w_w, dilation_h, dilation_w,
    KH: tl.constexpr, KW: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    total = tl.zeros((used.shape[0], inside.shape[0]), tl.float32)
    if BLOCK_K == 1:
        for n in range(0, K // KW):  # a filter row of a channel
            c, i = (n // KH).to(tl.int64), n % KH
            row = top + i * dilation_h
            for j in tl.static_range(KW):
                column = left + j * dilation_w
                seen = inside & (row >= 0) & (row < H) & (column >= 0) & (column < W)
                x = tl.load(x_at + (c * x_c + i * dilation_h * x_h + j * dilation_w * x_w), mask=seen, other=0.0)
                w = tl.load(w_at + (c * w_c + i * w_h + j * w_w), mask=used, other=0.0)
                total += w[:, None] * x[None, :]
    else:
        for start in range(0, K, BLOCK_K):
            k = start + tl.arange(0, BLOCK_K)
            c, i, j = (k // (KH * KW)).to(tl.int64), k // KW % KH, k % KW
            row, column = top[None, :] + (i * dilation_h)[:, None], left[None, :] + (j * dilation_w)[:, None]
            seen = inside[None, :] & (k < K)[:, None]
            seen &= (row >= 0) & (row < H) & (column >= 0) & (column < W)
            x_k = c * x_c + i * dilation_h * x_h + j * dilation_w * x_w
            x = tl.load(x_at[None, :] + x_k[:, None], mask=seen, other=0.0)
            w_k = c * w_c + i * w_h + j * w_w
            w = tl.load(w_at[:, None] + w_k[None, :], mask=used[:, None] & (k < K)[None, :], other=0.0)
            total = tl.dot(w, x, total, input_precision="tf32x3")
    return total


@triton.jit
def conv_pool_kernel(
    x_ptr, w_ptr, bias_ptr, y_ptr, F, K, H, W, CH, CW, OH, OW, down, across, x_n, x_c, x_h, x_w, w_o, w_c, w_h, w_w,
    stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w,
    pool_h, pool_w, step_h, step_w, edge_h, edge_w, apart_h, apart_w,
    KH: tl.constexpr, KW: tl.constexpr, BIAS: tl.constexpr, RELU: tl.constexpr,
    BLOCK_O: tl.constexpr, BLOCK_Y: tl.constexpr, BLOCK_X: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    """down * across patches an image; CH x CW is what is convolved; size, stride, padding and dilation of windows."""
    group, image = tl.program_id(2).to(tl.int64), (tl.program_id(0) // (down * across)).to(tl.int64)
    p = tl.arange(0, BLOCK_Y * BLOCK_X)
    y = tl.program_id(0) // across % down * BLOCK_Y + p // BLOCK_X
    x = tl.program_id(0) % across * BLOCK_X + p % BLOCK_X
    o = tl.program_id(1) * BLOCK_O + tl.arange(0, BLOCK_O)
    x_ptr += group * (K // (KH * KW)) * x_c + image * x_n
    w_at = w_ptr + (group * F + o) * w_o
    best = tl.full((BLOCK_O, BLOCK_Y * BLOCK_X), -float("inf"), tl.float32)
    for place in range(0, pool_h * pool_w):
        row, column = y * step_h - edge_h + place // pool_w * apart_h, x * step_w - edge_w + place % pool_w * apart_w
        inside = (y < OH) & (x < OW) & (row >= 0) & (row < CH) & (column >= 0) & (column < CW)
        top, left = row * stride_h - pad_h, column * stride_w - pad_w
        x_at = x_ptr + top.to(tl.int64) * x_h + left.to(tl.int64) * x_w
        total = convolved(
            x_at, w_at, top, left, inside, o < F, K, H, W, x_c, x_h, x_w, w_c, w_h, w_w, dilation_h, dilation_w,
            KH, KW, BLOCK_K,
        )  # fmt: skip
        best = tl.where(inside[None, :] & ((total > best) | (total != total)), total, best)
    if BIAS:
        best += tl.load(bias_ptr + group * F + o, mask=o < F, other=0.0)[:, None]
    if RELU:
        best = tl.where(best < 0.0, 0.0, best)
    y_at = y_ptr + image * (tl.num_programs(2) * F) * OH * OW + (y.to(tl.int64) * OW + x)[None, :]
    inside = (o < F)[:, None] & ((y < OH) & (x < OW))[None, :]
    tl.store(y_at + ((group * F + o) * OH * OW)[:, None], best, mask=inside)


@triton.jit
def pool_kernel(
    x_ptr, y_ptr, total, H, W, OH, OW, pool_h, pool_w, step_h, step_w, edge_h, edge_w, apart_h, apart_w,
    BLOCK: tl.constexpr,
):  # fmt: skip
    first = tl.program_id(0).to(tl.int64) * BLOCK
    o = (first % (OH * OW)).to(tl.int32) + tl.arange(0, BLOCK)
    used = first + tl.arange(0, BLOCK) < total
    x_ptr += (first // (OH * OW)) * H * W
    top, left = o // OW % OH * step_h - edge_h, o % OW * step_w - edge_w
    x_at = x_ptr + (o // (OH * OW)).to(tl.int64) * H * W + top * W + left
    best = tl.full((BLOCK,), -float("inf"), tl.float32)
    for place in range(0, pool_h * pool_w):
        down, right = place // pool_w * apart_h, place % pool_w * apart_w
        row, column = top + down, left + right
        inside = used & (row >= 0) & (row < H) & (column >= 0) & (column < W)
        x = tl.load(x_at + (down * W + right), mask=inside, other=-float("inf"))
        best = tl.where((x > best) | (x != x), x, best)
    tl.store(y_ptr + first + tl.arange(0, BLOCK), tl.where(best < 0.0, 0.0, best), mask=used)


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


def pooled(length, size, step, edge, apart, ceil_mode):
    """Number of windows; the last must begin in the image or before it."""
    room = length + 2 * edge - apart * (size - 1) - 1
    windows = (room + (step - 1 if ceil_mode else 0)) // step + 1
    return windows - 1 if ceil_mode and (windows - 1) * step >= length + edge else windows


def patches(OH, OW, size):
    """How many patches of `size` pixels cover an image, down and across, and the sides that reach out least."""
    sides = [(size >> n, 1 << n) for n in range(size.bit_length())]
    tiled = [(triton.cdiv(OH, y), triton.cdiv(OW, x), y, x) for y, x in sides]
    return min(reversed(tiled), key=lambda each: each[0] * each[1])


def launch(input, weight, bias, y, convolved, how, groups, pool, relu):
    (N, _, H, W), (out_channels, C, KH, KW) = input.shape, weight.shape
    F, K = out_channels // groups, C * KH * KW
    few = F <= 16 and K <= 64
    block_o = max(1 if few else 16, min(64, triton.next_power_of_2(F)))
    down, across, block_y, block_x = patches(*y.shape[2:], min(512, 2048 // block_o) if few else 64)
    conv_pool_kernel[(N * down * across, triton.cdiv(F, block_o), groups)](
        input, weight, y if bias is None else bias.contiguous(), y, F, K, H, W, *convolved, *y.shape[2:], down, across,
        *input.stride(), *weight.stride(), *how, *pool, KH, KW, bias is not None, relu,
        block_o, block_y, block_x, 1 if few else 32, num_warps=1 if few else 4, num_stages=3 if K > 32 else 1,
    )  # fmt: skip


def fused_relu_max_pool2d_conv2d(
    input, weight, bias=None, conv_stride=1, conv_padding=0, conv_dilation=1, conv_groups=1,
    pool_kernel_size=2, pool_stride=None, pool_padding=0, pool_dilation=1, pool_ceil_mode=False, inplace=False,
):  # fmt: skip
    N, channels, H, W = input.shape
    out_channels, C, KH, KW = weight.shape
    if channels != C * conv_groups or out_channels % conv_groups:
        raise RuntimeError(f"{channels} and {out_channels} channels do not fit {conv_groups} groups of {C} channels")
    stride, dilation, size, apart = pair(conv_stride), pair(conv_dilation), pair(pool_kernel_size), pair(pool_dilation)
    pad, pad_end = before_and_after(conv_padding, (KH, KW), stride, dilation)
    CH = (H + pad[0] + pad_end[0] - dilation[0] * (KH - 1) - 1) // stride[0] + 1
    CW = (W + pad[1] + pad_end[1] - dilation[1] * (KW - 1) - 1) // stride[1] + 1
    if CH <= 0 or CW <= 0:
        raise RuntimeError(f"a filter of {KH} x {KW} does not fit an input of {H} x {W}")
    step, edge = size if pool_stride is None else pair(pool_stride), pair(pool_padding)
    if any(not 0 <= e <= s // 2 for e, s in zip(edge, size, strict=True)):
        raise RuntimeError(f"pool_padding is {edge}, wanted at most half of the window, {size}")
    windows = zip((CH, CW), size, step, edge, apart, strict=True)
    OH, OW = (pooled(*each, pool_ceil_mode) for each in windows)
    if OH <= 0 or OW <= 0:
        raise RuntimeError(f"a window of {size} does not fit what is convolved, {CH} x {CW}")
    y = torch.empty((N, out_channels, OH, OW), dtype=input.dtype, device=input.device)
    if not y.numel():
        return y
    how, pool = (*stride, *pad, *dilation), (*size, *step, *edge, *apart)
    anew = size[0] * size[1] * OH * OW / (CH * CW) - 1
    if C * KH * KW * anew <= 40:
        launch(input, weight, bias, y, (CH, CW), how, conv_groups, pool, True)
    else:
        z = torch.empty((N, out_channels, CH, CW), dtype=input.dtype, device=input.device)
        launch(input, weight, bias, z, (CH, CW), how, conv_groups, (1, 1, 1, 1, 0, 0, 1, 1), False)
        pool_kernel[(triton.cdiv(y.numel(), 1024),)](z, y, y.numel(), CH, CW, OH, OW, *pool, 1024)
    return y
