"""(input1 + input2) * input2, group-normalised. The channels of a group are neighbours in memory: one row per group.

Rows of up to 16,384 elements stay in registers: one read, one write. Longer ones are read twice. Mean and m2 (the sum
of squares about the mean) come first, tile after tile being merged as Chan, Golub and LeVeque do: no cancellation,
however large the mean is. Where there are too few rows to fill a GPU, each is cut into parts, whose means and m2 a
launch before finds; then every program merges those of a row and writes a part.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def product(a_ptr, b_ptr, offsets, inside):
    a = tl.load(a_ptr + offsets, mask=inside, other=0.0).to(tl.float32)
    b = tl.load(b_ptr + offsets, mask=inside, other=0.0).to(tl.float32)
    return (a + b) * b


@triton.jit
def affine(y, weight_ptr, bias_ptr, channel, inside, WEIGHT: tl.constexpr, BIAS: tl.constexpr):
    if WEIGHT:
        y *= tl.load(weight_ptr + channel, mask=inside, other=0.0).to(tl.float32)
    if BIAS:
        y += tl.load(bias_ptr + channel, mask=inside, other=0.0).to(tl.float32)
    return y


@triton.jit
def whole_kernel(
    a_ptr, b_ptr, weight_ptr, bias_ptr, y_ptr, rows, L, S, num_groups, channels, eps,
    WEIGHT: tl.constexpr, BIAS: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, COLUMNS)
    inside = (row < rows)[:, None] & (column < L)[None, :]
    offsets = row[:, None] * L + column[None, :]
    x = product(a_ptr, b_ptr, offsets, inside)
    mean = tl.sum(x, axis=1) / L
    d = tl.where(inside, x - mean[:, None], 0.0)
    y = d * tl.rsqrt(tl.sum(d * d, axis=1) / L + eps)[:, None]
    channel = (row % num_groups * channels)[:, None] + (column // S)[None, :]
    y = affine(y, weight_ptr, bias_ptr, channel, inside, WEIGHT, BIAS)
    tl.store(y_ptr + offsets, y.to(y_ptr.dtype.element_ty), mask=inside)


@triton.jit
def moments(a_ptr, b_ptr, first, last, BLOCK: tl.constexpr):
    """Mean and m2 of the products from first to last."""
    n, mean, m2 = 0.0, 0.0, 0.0
    for start in range(first, last, BLOCK):
        column = start + tl.arange(0, BLOCK)
        x = product(a_ptr, b_ptr, column, column < last)
        here = tl.minimum(last - start, BLOCK).to(tl.float32)
        mean_here = tl.sum(x, axis=0) / here
        d = tl.where(column < last, x - mean_here, 0.0)
        delta = mean_here - mean
        share = here / (n + here)
        mean += delta * share
        m2 += tl.sum(d * d, axis=0) + delta * delta * n * share
        n += here
    return mean, m2


@triton.jit
def part_kernel(a_ptr, b_ptr, mean_ptr, m2_ptr, L, part, BLOCK: tl.constexpr):
    row, p = tl.program_id(0).to(tl.int64), tl.program_id(1)
    last = tl.minimum(p * part + part, L)
    mean, m2 = moments(a_ptr + row * L, b_ptr + row * L, p * part, last, BLOCK)
    tl.store(mean_ptr + row * tl.num_programs(1) + p, mean)
    tl.store(m2_ptr + row * tl.num_programs(1) + p, m2)


@triton.jit
def normalise_kernel(
    a_ptr, b_ptr, mean_ptr, m2_ptr, weight_ptr, bias_ptr, y_ptr, L, S, num_groups, channels, eps, part,
    WEIGHT: tl.constexpr, BIAS: tl.constexpr, PARTS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    row, p = tl.program_id(0).to(tl.int64), tl.program_id(1)
    if PARTS == 1:
        mean, m2 = moments(a_ptr + row * L, b_ptr + row * L, 0, L, BLOCK)
    else:
        parts = tl.arange(0, PARTS)
        there = parts < tl.num_programs(1)
        means = tl.load(mean_ptr + row * tl.num_programs(1) + parts, mask=there, other=0.0)
        m2s = tl.load(m2_ptr + row * tl.num_programs(1) + parts, mask=there, other=0.0)
        count = tl.where(there, tl.minimum(L - parts * part, part), 0).to(tl.float32)
        mean = tl.sum(count * means, axis=0) / L
        m2 = tl.sum(m2s + count * (means - mean) * (means - mean), axis=0)
    scale = tl.rsqrt(m2 / L + eps)
    last = tl.minimum(p * part + part, L)
    for start in range(p * part, last, BLOCK):
        column = start + tl.arange(0, BLOCK)
        inside = column < last
        y = (product(a_ptr, b_ptr, row * L + column, inside) - mean) * scale
        y = affine(y, weight_ptr, bias_ptr, row % num_groups * channels + column // S, inside, WEIGHT, BIAS)
        tl.store(y_ptr + row * L + column, y.to(y_ptr.dtype.element_ty), mask=inside)


def fused_add_mul_groupnorm(input1, input2, weight, bias, num_groups, eps=1e-05, *, out=None):
    a, b = input1.contiguous(), input2.expand(input1.shape).contiguous()
    N, C = a.shape[:2]
    if num_groups < 1 or C % num_groups:
        raise RuntimeError(f"{C} channels cannot be divided into {num_groups} groups")
    direct = out is not None and out.is_contiguous()
    y = out if direct else torch.empty_like(a)
    if y.numel():
        S, rows = a.shape[2:].numel(), N * num_groups
        L = C // num_groups * S
        given = (weight is not None, bias is not None)
        weight, bias = (a if t is None else t.contiguous() for t in (weight, bias))
        numbers = (L, S, num_groups, C // num_groups, float(eps))
        columns = triton.next_power_of_2(L)
        if columns <= 16384:
            height = min(triton.next_power_of_2(rows), max(1, 4096 // columns))
            warps = max(8, columns // 1024)
            whole_kernel[(triton.cdiv(rows, height),)](
                a, b, weight, bias, y, rows, *numbers, *given, height, columns, num_warps=warps
            )
        else:
            block = 4096
            parts = max(1, min(triton.cdiv(L, 2 * block), triton.cdiv(1024, rows)))
            part = triton.cdiv(triton.cdiv(L, parts), block) * block
            parts = triton.cdiv(L, part)
            mean, m2 = (torch.empty((rows, parts), dtype=torch.float32, device=a.device) for _ in range(2))
            if parts > 1:
                part_kernel[(rows, parts)](a, b, mean, m2, L, part, block, num_warps=8)
            normalise_kernel[(rows, parts)](
                a, b, mean, m2, weight, bias, y, *numbers, part, *given, triton.next_power_of_2(parts), block,
                num_warps=8,
            )  # fmt: skip
    return y if direct or out is None else out.copy_(y)
