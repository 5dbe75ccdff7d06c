"""Transposed convolution as matrix products of gathered pixels (implicit GEMM).

Rows of the result that are equal modulo the stride get contributions of the same filter rows, and so for columns: a
program computes pixels of one such phase by channels of one group, and only meets those filter elements that count.
float32 is multiplied in full precision ("ieee").
"""

import torch
import triton
import triton.language as tl


@triton.jit
def phase_kernel(x_ptr, w_ptr, bias_ptr, y_ptr, N, F, C, H, W, KH, KW, OH, OW,
                 x_n, x_c, x_h, x_w, w_c, w_f, w_h, w_w, bias_f,
                 stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w,
                 HAS_BIAS: tl.constexpr, BLOCK_P: tl.constexpr, BLOCK_F: tl.constexpr, BLOCK_C: tl.constexpr):
    phase_w = tl.program_id(2) % stride_w
    phase_h = tl.program_id(2) // stride_w % stride_h
    group = (tl.program_id(2) // stride_w // stride_h).to(tl.int64)
    rows, columns = tl.cdiv(OH, stride_h), tl.cdiv(OW, stride_w)
    p = tl.program_id(0) * BLOCK_P + tl.arange(0, BLOCK_P)
    image = (p // (rows * columns)).to(tl.int64)
    row, column = p // columns % rows, p % columns
    f = tl.program_id(1) * BLOCK_F + tl.arange(0, BLOCK_F)
    x_ptr += group * C * x_c
    w_ptr += group * C * w_c
    total = tl.zeros((BLOCK_P, BLOCK_F), tl.float32)
    for tap in range(KH * KW):
        # The input row h of this filter row: stride * h = y + pad - dilation * i, with y = stride * row + phase.
        below = phase_h + pad_h - tap // KW * dilation_h
        right = phase_w + pad_w - tap % KW * dilation_w
        if (below % stride_h == 0) & (right % stride_w == 0):
            h, w = row + below // stride_h, column + right // stride_w
            inside = (image < N) & (h >= 0) & (h < H) & (w >= 0) & (w < W)
            x_at = x_ptr + image * x_n + h.to(tl.int64) * x_h + w.to(tl.int64) * x_w
            w_at = w_ptr + tap // KW * w_h + tap % KW * w_w + f.to(tl.int64) * w_f
            for start in range(0, C, BLOCK_C):
                c = (start + tl.arange(0, BLOCK_C)).to(tl.int64)
                a = tl.load(x_at[:, None] + (c * x_c)[None, :], mask=inside[:, None] & (c < C)[None, :], other=0.0)
                b = tl.load(w_at[None, :] + (c * w_c)[:, None], mask=(c < C)[:, None] & (f < F)[None, :], other=0.0)
                total = tl.dot(a, b, total, input_precision="ieee")
    channel = group * F + f
    if HAS_BIAS:
        total += tl.load(bias_ptr + channel * bias_f, mask=f < F, other=0.0)[None, :]
    channels = tl.num_programs(2) // (stride_h * stride_w) * F
    y, x = row * stride_h + phase_h, column * stride_w + phase_w
    y_at = y_ptr + (image[:, None] * channels + channel[None, :]) * OH * OW + (y * OW + x)[:, None]
    tl.store(y_at, total, mask=((image < N) & (y < OH) & (x < OW))[:, None] & (f < F)[None, :])


def pair(value):
    return (value, value) if isinstance(value, int) else (value[0], value[-1])


def conv_transpose2d(input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
    N, channels, H, W = input.shape
    F, KH, KW = weight.shape[1:]
    if channels != weight.shape[0] or channels % groups:
        raise RuntimeError(f"{channels} channels do not fit a weight of {list(weight.shape)} and {groups} groups")
    stride, padding, output_padding, dilation = (pair(value) for value in (stride, padding, output_padding, dilation))
    if any(more >= max(step, apart) for more, step, apart in zip(output_padding, stride, dilation, strict=True)):
        raise RuntimeError(f"output_padding is {output_padding}, wanted less than stride or dilation")
    OH = (H - 1) * stride[0] - 2 * padding[0] + dilation[0] * (KH - 1) + 1 + output_padding[0]
    OW = (W - 1) * stride[1] - 2 * padding[1] + dilation[1] * (KW - 1) + 1 + output_padding[1]
    if OH <= 0 or OW <= 0:
        raise RuntimeError(f"a result of {OH} x {OW} is too small")
    output = torch.empty((N, groups * F, OH, OW), dtype=input.dtype, device=input.device)
    if output.numel():
        pixels = N * triton.cdiv(OH, stride[0]) * triton.cdiv(OW, stride[1])
        block_f = min(64, max(16, triton.next_power_of_2(F)))
        block_p, warps = (4096 // block_f, 4) if pixels * F < 2**20 else (8192 // block_f, 8)
        grid = (triton.cdiv(pixels, block_p), triton.cdiv(F, block_f), groups * stride[0] * stride[1])
        phase_kernel[grid](
            input, weight, output if bias is None else bias, output, N, F, channels // groups, H, W, KH, KW, OH, OW,
            *input.stride(), *weight.stride(), 0 if bias is None else bias.stride(0), *stride, *padding, *dilation,
            HAS_BIAS=bias is not None, BLOCK_P=block_p, BLOCK_F=block_f, BLOCK_C=16, num_warps=warps)
    return output
