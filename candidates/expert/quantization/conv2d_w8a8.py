"""Convolution in int8, as a matrix product that is never laid out (implicit GEMM).

Scheme: symmetric, one scale per image of `input` and one per filter, scale = largest magnitude / 127. Both are stored
as int8 with the channels last, filled up with zeros to a multiple of 4 or 16, so that the sum over filter row, filter
column and channel runs along memory. Products are summed exactly in int32, and every sum is multiplied by its image's
and its filter's scale. Sums stay within int32 up to 133,152 terms.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def largest_kernel(x_ptr, top_ptr, size, PARTS: tl.constexpr, BLOCK: tl.constexpr):
    """top [N, PARTS]: the largest magnitude of each part of an image."""
    part = tl.program_id(0)
    x_ptr += tl.program_id(1).to(tl.int64) * size
    top = tl.zeros((BLOCK,), tl.float32)
    for start in range(part * BLOCK, size, PARTS * BLOCK):
        at = start + tl.arange(0, BLOCK)
        top = tl.maximum(top, tl.abs(tl.load(x_ptr + at, mask=at < size, other=0.0)))
    tl.store(top_ptr + tl.program_id(1) * PARTS + part, tl.max(top, axis=0))


@triton.jit
def quantize_kernel(x_ptr, top_ptr, q_ptr, scale_ptr, C, P, CP,
                    PARTS: tl.constexpr, BLOCK_P: tl.constexpr, BLOCK_C: tl.constexpr):
    """q [N, P, CP] from x [N, C, P], rounded in steps of scale [N]."""
    image = tl.program_id(1).to(tl.int64)
    largest = tl.max(tl.load(top_ptr + image * PARTS + tl.arange(0, PARTS)), axis=0)
    tl.store(scale_ptr + image, largest / 127.0)
    # Dividing by the largest value itself, not by the scale, is safe for the tiniest of numbers.
    divisor = tl.where(largest > 0.0, largest, 1.0)
    p = (tl.program_id(0) * BLOCK_P + tl.arange(0, BLOCK_P)).to(tl.int64)[:, None]
    for start in range(0, CP, BLOCK_C):
        c = start + tl.arange(0, BLOCK_C)[None, :]
        x = tl.load(x_ptr + (image * C + c) * P + p, mask=(p < P) & (c < C), other=0.0)
        q = tl.floor(x / divisor * 127.0 + 0.5)
        tl.store(q_ptr + (image * P + p) * CP + c, q.to(tl.int8), mask=(p < P) & (c < CP))


@triton.jit
def int8_conv(x_ptr, w_ptr, x_scale_ptr, w_scale_ptr, bias_ptr, y_ptr, PIXELS, F, K, C, H, W, KW, OH, OW, bias_f,
              stride_h, stride_w, pad_h, pad_w,
              HAS_BIAS: tl.constexpr, BLOCK_P: tl.constexpr, BLOCK_F: tl.constexpr, BLOCK_K: tl.constexpr):
    """y [N, F, OH, OW] from x [N, H, W, C] and w [F, K], K numbering filter row, filter column and channel."""
    p = tl.program_id(0) * BLOCK_P + tl.arange(0, BLOCK_P)
    f = tl.program_id(1) * BLOCK_F + tl.arange(0, BLOCK_F)
    image = p // (OH * OW)
    top = (p // OW % OH * stride_h - pad_h)[:, None]
    left = (p % OW * stride_w - pad_w)[:, None]
    corner = x_ptr + (image.to(tl.int64) * (H * W * C))[:, None]
    w_at = w_ptr + f.to(tl.int64)[None, :] * K
    total = tl.zeros((BLOCK_P, BLOCK_F), tl.int32)
    for start in range(0, K, BLOCK_K):
        k = start + tl.arange(0, BLOCK_K)
        row = top + (k // (KW * C))[None, :]
        column = left + (k // C % KW)[None, :]
        inside = (p < PIXELS)[:, None] & (k < K)[None, :] & (row >= 0) & (row < H) & (column >= 0) & (column < W)
        x = tl.load(corner + (row * W + column) * C + (k % C)[None, :], mask=inside, other=0)
        w = tl.load(w_at + k[:, None], mask=(k < K)[:, None] & (f < F)[None, :], other=0)
        total = tl.dot(x, w, total, out_dtype=tl.int32)
    x_scale = tl.load(x_scale_ptr + image, mask=p < PIXELS, other=0.0)
    w_scale = tl.load(w_scale_ptr + f, mask=f < F, other=0.0)
    y = total.to(tl.float32) * x_scale[:, None] * w_scale[None, :]
    if HAS_BIAS:
        y += tl.load(bias_ptr + f * bias_f, mask=f < F, other=0.0)[None, :]
    y_at = y_ptr + ((image * F)[:, None] + f[None, :]).to(tl.int64) * (OH * OW) + (p % (OH * OW))[:, None]
    tl.store(y_at, y, mask=(p < PIXELS)[:, None] & (f < F)[None, :])


def quantized(x, channels):
    """x [N, C, height, width] as int8 [N, height, width, channels], and the scale of every image."""
    N, C, H, W = x.shape
    x = x.contiguous()
    parts = min(64, triton.next_power_of_2(triton.cdiv(C * H * W, 4096)))
    top = torch.empty((N, parts), dtype=torch.float32, device=x.device)
    largest_kernel[(parts, N)](x, top, C * H * W, PARTS=parts, BLOCK=2048)
    q = torch.empty((N, H, W, channels), dtype=torch.int8, device=x.device)
    scale = torch.empty((N,), dtype=torch.float32, device=x.device)
    block_c = min(32, triton.next_power_of_2(channels))
    block_p = min(triton.next_power_of_2(H * W), 4096 // block_c)
    quantize_kernel[(triton.cdiv(H * W, block_p), N)](
        x, top, q, scale, C, H * W, channels, PARTS=parts, BLOCK_P=block_p, BLOCK_C=block_c)
    return q, scale


def pair(value):
    return (value, value) if isinstance(value, int) else (value[0], value[-1])


def before_and_after(padding, kernel, stride):
    """Zeros before and after each of the two axes."""
    if padding == "valid":
        return (0, 0), (0, 0)
    if padding == "same":
        if stride != (1, 1):
            raise RuntimeError("padding='same' is not supported for strided convolutions")
        return tuple((k - 1) // 2 for k in kernel), tuple(k // 2 for k in kernel)
    if isinstance(padding, str):
        raise RuntimeError(f"padding is {padding!r}, wanted a number, a pair, 'valid' or 'same'")
    return pair(padding), pair(padding)


def conv2d_w8a8(input, weight, bias=None, stride=1, padding=0):
    N, C, H, W = input.shape
    F, channels, KH, KW = weight.shape
    if channels != C:
        raise RuntimeError(f"the input has {C} channels, the weight {channels}")
    stride = pair(stride)
    pad, pad_end = before_and_after(padding, (KH, KW), stride)
    OH = (H + pad[0] + pad_end[0] - KH) // stride[0] + 1
    OW = (W + pad[1] + pad_end[1] - KW) // stride[1] + 1
    if OH <= 0 or OW <= 0:
        raise RuntimeError(f"a filter of {KH} x {KW} does not fit an input of {H} x {W}")
    output = torch.empty((N, F, OH, OW), dtype=input.dtype, device=input.device)
    if output.numel() == 0:
        return output
    channels = triton.cdiv(C, 4) * 4 if C < 16 else triton.cdiv(C, 16) * 16
    x, x_scale = quantized(input, channels)
    w, w_scale = quantized(weight, channels)
    pixels = N * OH * OW
    if pixels * F < 2**22:
        block_f = min(64, max(16, triton.next_power_of_2(F)))
        block_p, warps = 4096 // block_f, 4
    else:
        block_f = min(128, max(16, triton.next_power_of_2(F)))
        block_p, warps = 128, 8
    int8_conv[(triton.cdiv(pixels, block_p), triton.cdiv(F, block_f))](
        x, w, x_scale, w_scale, output if bias is None else bias, output, pixels, F, KH * KW * channels, channels,
        H, W, KW, OH, OW, 0 if bias is None else bias.stride(0), *stride, *pad,
        HAS_BIAS=bias is not None, BLOCK_P=block_p, BLOCK_F=block_f, BLOCK_K=64, num_warps=warps, num_stages=3)
    return output
