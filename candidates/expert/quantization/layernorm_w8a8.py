"""Layer normalization of int8 input with an int8 weight.

Scheme: symmetric; a scale for every slice of `input` and one for the whole weight, each the largest magnitude / 127.
Mean and variance are those of the rounded slice: the mean is taken of whole numbers, so that a slice of equal elements
has no variance at all. Slices of up to 16,384 elements stay in registers; longer ones are read three times.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def rounded(x, largest):
    """x in steps of largest / 127: whole numbers -127 to 127."""
    return tl.floor(x / tl.where(largest > 0.0, largest, 1.0) * 127.0 + 0.5)


@triton.jit
def whole_kernel(x_ptr, w_ptr, b_ptr, y_ptr, slices, N, eps, WEIGHT: tl.constexpr, BIAS: tl.constexpr,
                 ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, COLUMNS)
    inside = (row < slices)[:, None] & (column < N)[None, :]
    x = tl.load(x_ptr + row[:, None] * N + column[None, :], mask=inside, other=0.0)
    largest = tl.max(tl.abs(x), axis=1)[:, None]
    q = rounded(x, largest)
    mean = tl.sum(q, axis=1)[:, None] / N
    away = tl.where(inside, (q - mean) * (largest / 127.0), 0.0)
    y = away * (1.0 / tl.sqrt(tl.sum(away * away, axis=1) / N + eps))[:, None]
    if WEIGHT:
        w = tl.load(w_ptr + column, mask=column < N, other=0.0)
        w_largest = tl.max(tl.abs(w), axis=0)
        y *= (rounded(w, w_largest) * (w_largest / 127.0))[None, :]
    if BIAS:
        y += tl.load(b_ptr + column, mask=column < N, other=0.0)[None, :]
    tl.store(y_ptr + row[:, None] * N + column[None, :], y, mask=inside)


@triton.jit
def long_kernel(x_ptr, w_ptr, b_ptr, y_ptr, N, eps, WEIGHT: tl.constexpr, BIAS: tl.constexpr, COLUMNS: tl.constexpr):
    x_ptr += tl.program_id(0).to(tl.int64) * N
    y_ptr += tl.program_id(0).to(tl.int64) * N
    top = tl.zeros((COLUMNS,), tl.float32)
    w_top = tl.zeros((COLUMNS,), tl.float32)
    for start in range(0, N, COLUMNS):
        column = start + tl.arange(0, COLUMNS)
        top = tl.maximum(top, tl.abs(tl.load(x_ptr + column, mask=column < N, other=0.0)))
        if WEIGHT:
            w_top = tl.maximum(w_top, tl.abs(tl.load(w_ptr + column, mask=column < N, other=0.0)))
    largest, w_largest = tl.max(top, axis=0), tl.max(w_top, axis=0)
    # Sums of whole numbers and of their squares are exact as integers: the two need but one reading.
    total = tl.zeros((COLUMNS,), tl.int64)
    squares = tl.zeros((COLUMNS,), tl.int64)
    for start in range(0, N, COLUMNS):
        column = start + tl.arange(0, COLUMNS)
        q = rounded(tl.load(x_ptr + column, mask=column < N, other=0.0), largest).to(tl.int32)
        total += q
        squares += q * q
    sum_q, sum_qq = tl.sum(total, axis=0).to(tl.float64), tl.sum(squares, axis=0).to(tl.float64)
    mean = (sum_q / N).to(tl.float32)
    step = largest / 127.0
    variance = ((sum_qq - sum_q * sum_q / N) / N).to(tl.float32) * step * step
    factor = step / tl.sqrt(variance + eps)
    for start in range(0, N, COLUMNS):
        column = start + tl.arange(0, COLUMNS)
        y = (rounded(tl.load(x_ptr + column, mask=column < N, other=0.0), largest) - mean) * factor
        if WEIGHT:
            w = tl.load(w_ptr + column, mask=column < N, other=0.0)
            y *= rounded(w, w_largest) * (w_largest / 127.0)
        if BIAS:
            y += tl.load(b_ptr + column, mask=column < N, other=0.0)
        tl.store(y_ptr + column, y, mask=column < N)


def layernorm_w8a8(input, normalized_shape, weight=None, bias=None, eps=1e-05):
    shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
    if not shape or tuple(input.shape[-len(shape):]) != shape:
        raise RuntimeError(f"normalized_shape is {shape}, but the input has the shape {tuple(input.shape)}")
    x = input.contiguous()
    y = torch.empty_like(x)
    if y.numel() == 0:
        return y
    N = torch.Size(shape).numel()
    slices = x.numel() // N
    w = x if weight is None else weight.contiguous()
    b = x if bias is None else bias.contiguous()
    given = {"WEIGHT": weight is not None, "BIAS": bias is not None}
    columns = triton.next_power_of_2(N)
    if columns <= 16384:
        rows = min(max(1, 4096 // columns), triton.next_power_of_2(slices))
        warps = 16 if columns >= 8192 else 8 if columns >= 2048 else 4
        whole_kernel[(triton.cdiv(slices, rows),)](
            x, w, b, y, slices, N, float(eps), **given, ROWS=rows, COLUMNS=columns, num_warps=warps)
    else:
        long_kernel[(slices,)](x, w, b, y, N, float(eps), **given, COLUMNS=4096, num_warps=8)
    return y
