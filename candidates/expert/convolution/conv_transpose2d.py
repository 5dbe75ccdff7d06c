"""Transposed convolution as matrix products of gathered pixels (implicit GEMM).

Rows of the result that are equal modulo the stride get contributions of the same filter rows, and so for columns: a
program computes a patch of pixels of one such phase by channels of one group, and only meets those filter elements that
count. Filter elements and blocks of channels are one loop, and the weight is laid out anew so that it is read along
channels. float32 is multiplied in three TF32 products, as exact as float32.
"""

from math import gcd

import torch
import triton
import triton.language as tl


@triton.jit
def met(offset, stride, dilation, SIZE: tl.constexpr):
    """The first filter row (or column) that reaches rows of a phase, and how many do: stride divides what is left."""
    first, count = SIZE, 0
    for i in tl.static_range(SIZE):
        reached = (offset - i * dilation) % stride == 0
        first = tl.minimum(first, tl.where(reached, i, SIZE))
        count += tl.where(reached, 1, 0)
    return first, count


@triton.jit
def phase_kernel(
    x_ptr, w_ptr, bias_ptr, y_ptr, F, C, H, W, OH, OW, down, across, x_n, x_c, x_h, x_w, bias_f,
    stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w, step_h, step_w,
    KH: tl.constexpr, KW: tl.constexpr, WIDE: tl.constexpr, BIAS: tl.constexpr,
    BLOCK_Y: tl.constexpr, BLOCK_X: tl.constexpr, BLOCK_F: tl.constexpr, BLOCK_C: tl.constexpr,
):  # fmt: skip
    """down * across patches a phase of an image, which is WIDE if offsets in it need 64 bits; w [KH, KW, groups, F, C].

    Every step_h-th filter row reaches the rows of a phase.
    """
    phase_w = tl.program_id(2) % stride_w
    phase_h = tl.program_id(2) // stride_w % stride_h
    group = (tl.program_id(2) // stride_w // stride_h).to(tl.int64)
    groups = tl.num_programs(2) // (stride_h * stride_w)
    image = (tl.program_id(0) // (down * across)).to(tl.int64)
    p = tl.arange(0, BLOCK_Y * BLOCK_X)
    row = tl.program_id(0) // across % down * BLOCK_Y + p // BLOCK_X
    column = tl.program_id(0) % across * BLOCK_X + p % BLOCK_X
    y, x = row * stride_h + phase_h, column * stride_w + phase_w
    f = tl.program_id(1) * BLOCK_F + tl.arange(0, BLOCK_F)
    seen, used, channel = (y < OH) & (x < OW), f < F, group * F + f
    x_at = x_ptr + group * C * x_c + image * x_n + row.to(tl.int64) * x_h + column.to(tl.int64) * x_w
    w_at = w_ptr + channel * C
    first_i, rows = met(phase_h + pad_h, stride_h, dilation_h, KH)
    first_j, columns = met(phase_w + pad_w, stride_w, dilation_w, KW)
    blocks = tl.cdiv(C, BLOCK_C)
    total = tl.zeros((BLOCK_Y * BLOCK_X, BLOCK_F), tl.float32)
    for n in range(0, rows * columns * blocks):
        i, j = first_i + n // blocks // columns * step_h, first_j + n // blocks % columns * step_w
        # The input row h of this filter row: stride * h = y + pad - dilation * i, with y = stride * row + phase.
        below, right = (phase_h + pad_h - i * dilation_h) // stride_h, (phase_w + pad_w - j * dilation_w) // stride_w
        # As unsigned numbers those less than 0 are large.
        inside = seen & ((row + below).to(tl.uint32) < H) & ((column + right).to(tl.uint32) < W)
        c = n % blocks * BLOCK_C + tl.arange(0, BLOCK_C)
        if WIDE:
            c = c.to(tl.int64)
        x_c_at = c * x_c + (below * x_h + right * x_w)
        a = tl.load(x_at[:, None] + x_c_at[None, :], mask=inside[:, None] & (c < C)[None, :], other=0.0)
        w_c_at = (i * KW + j).to(tl.int64) * groups * F * C + c
        b = tl.load(w_at[None, :] + w_c_at[:, None], mask=(c < C)[:, None] & used[None, :], other=0.0)
        total = tl.dot(a, b, total, input_precision="tf32x3")
    if BIAS:
        total += tl.load(bias_ptr + channel * bias_f, mask=used, other=0.0)[None, :]
    y_ptr += image * groups * F * OH * OW
    y_at = y_ptr + (channel * OH * OW)[None, :] + (y.to(tl.int64) * OW + x)[:, None]
    tl.store(y_at, total, mask=seen[:, None] & used[None, :])


def pair(value):
    return (value, value) if isinstance(value, int) else (value[0], value[-1])


def patches(OH, OW, size):
    """How many patches of `size` pixels cover an image, down and across, and the sides that reach out least."""
    sides = [(size >> n, 1 << n) for n in range(size.bit_length())]
    tiled = [(triton.cdiv(OH, y), triton.cdiv(OW, x), y, x) for y, x in sides]
    return min(reversed(tiled), key=lambda each: each[0] * each[1])


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
        C = channels // groups
        rows, columns = triton.cdiv(OH, stride[0]), triton.cdiv(OW, stride[1])
        down, across, block_y, block_x = patches(rows, columns, 64 if N * rows * columns * F < 1 << 20 else 128)
        block_f = max(16, min(64, triton.next_power_of_2(F)))
        step = [apart // gcd(apart, spread) for apart, spread in zip(stride, dilation, strict=True)]
        wide = sum((n - 1) * by for n, by in zip(input.shape[1:], input.stride()[1:], strict=True)) >= 2**31
        w = weight.reshape(groups, C, F, KH, KW).permute(3, 4, 0, 2, 1).contiguous()
        phase_kernel[(N * down * across, triton.cdiv(F, block_f), groups * stride[0] * stride[1])](
            input, w, output if bias is None else bias, output, F, C, H, W, OH, OW, down, across,
            *input.stride(), 0 if bias is None else bias.stride(0), *stride, *padding, *dilation, *step,
            KH, KW, wide, bias is not None, block_y, block_x, block_f, 32 if C > 16 else 16, num_warps=4, num_stages=3,
        )  # fmt: skip
    return output
