"""Sums over any dimensions, then the standard deviation of the sums.

The sums are those over the middle axis of a tensor (outer, R, inner). A tile follows memory: long in the summed
direction where that is contiguous, wide in the kept one otherwise. Where there are too few rows to fill a GPU, each is
cut into parts and a second launch adds the parts up. Each program of the next launch takes mean and sum of squares
about it of a block of sums, and the last merges these as Chan, Golub and LeVeque do: nothing cancels.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def sum_kernel(
    x_ptr, y_ptr, like_ptr, M, R, inner, stride_o, stride_r, stride_i, part,
    ACC: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """y[p, m] is the sum of the elements p * part to (p + 1) * part of row m, of the type of like."""
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    base = row // inner * stride_o + row % inner * stride_i
    first = tl.program_id(1).to(tl.int64) * part
    total = tl.zeros((ROWS, COLUMNS), ACC)
    for start in range(first, tl.minimum(first + part, R), COLUMNS):
        column = start + tl.arange(0, COLUMNS)
        inside = (row < M)[:, None] & (column < R)[None, :]
        x = tl.load(x_ptr + base[:, None] + column[None, :].to(tl.int64) * stride_r, mask=inside, other=0)
        total += x.to(like_ptr.dtype.element_ty).to(ACC)
    y = tl.sum(total, axis=1)
    tl.store(y_ptr + tl.program_id(1).to(tl.int64) * M + row, y, mask=row < M)


@triton.jit
def spread_kernel(x_ptr, mean_ptr, m2_ptr, n, BLOCK: tl.constexpr):
    """Mean, and sum of squares about it, of every block of x."""
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=0.0)
    count = tl.minimum(n - tl.program_id(0).to(tl.int64) * BLOCK, BLOCK)
    mean = tl.sum(x, axis=0) / count
    d = tl.where(offsets < n, x - mean, 0.0)
    tl.store(mean_ptr + tl.program_id(0), mean)
    tl.store(m2_ptr + tl.program_id(0), tl.sum(d * d, axis=0))


@triton.jit
def merge_kernel(mean_ptr, m2_ptr, y_ptr, n, blocks, divisor, SIZE: tl.constexpr, BLOCK: tl.constexpr):
    """The deviation of n values from mean and m2 of their blocks of SIZE."""
    weighted = tl.zeros((BLOCK,), mean_ptr.dtype.element_ty)
    for first in range(0, blocks, BLOCK):
        b = first + tl.arange(0, BLOCK)
        count = tl.maximum(tl.minimum(n - b.to(tl.int64) * SIZE, SIZE), 0)
        weighted += tl.load(mean_ptr + b, mask=b < blocks, other=0.0) * count
    mean = tl.sum(weighted, axis=0) / n
    squares = tl.zeros((BLOCK,), mean_ptr.dtype.element_ty)
    for first in range(0, blocks, BLOCK):
        b = first + tl.arange(0, BLOCK)
        count = tl.maximum(tl.minimum(n - b.to(tl.int64) * SIZE, SIZE), 0)
        d = tl.load(mean_ptr + b, mask=b < blocks, other=0.0) - mean
        squares += tl.load(m2_ptr + b, mask=b < blocks, other=0.0) + d * d * count
    y = tl.sqrt(tl.sum(squares, axis=0) / divisor)
    tl.store(y_ptr, y.to(y_ptr.dtype.element_ty))


@triton.jit
def zero_kernel(y_ptr):
    tl.store(y_ptr, 0.0)


def sum_rows(x, like, double):
    """The sums over axis 1 of x, a vector."""
    outer, R, inner = x.shape
    M, size = outer * inner, 4096
    wide = inner > 1 and x.stride(2) < x.stride(1)
    columns = min(triton.next_power_of_2(max(R, 1)), max(32, size // triton.next_power_of_2(inner)) if wide else size)
    rows = min(triton.next_power_of_2(M), size // columns)
    programs = triton.cdiv(M, rows)
    parts = max(1, min(triton.cdiv(R, 4 * columns), triton.cdiv(1024, programs)))
    part = triton.cdiv(triton.cdiv(R, parts), columns) * columns
    parts = max(1, triton.cdiv(R, max(part, 1)))
    y = torch.empty((1, parts, M), dtype=torch.float64 if double else torch.float32, device=x.device)
    sum_kernel[(programs, parts)](
        x, y, like, M, R, inner, *x.stride(), part, tl.float64 if double else tl.float32, rows, columns, num_warps=8
    )
    return sum_rows(y, y, double) if parts > 1 else y.view(M)


def fused_sum_std(input, dim=None, keepdim=False, dtype=None, correction=1, out=None):
    x, rank = input, input.dim()
    dtype = dtype or x.dtype
    whole = dim is None or dim == () or dim == []
    given = range(rank) if whole else [dim] if isinstance(dim, int) else dim
    reduced = sorted({d % max(rank, 1) for d in given}) if rank else []
    kept = [d for d in range(rank) if d not in reduced]
    count = torch.Size(x.shape[d] for d in kept).numel()
    direct = out is not None and out.is_contiguous() and out.dtype == dtype
    y = out if direct else torch.empty((), dtype=dtype, device=x.device)
    if count > correction:
        R = torch.Size(x.shape[d] for d in reduced).numel()
        if reduced and reduced[-1] - reduced[0] == len(reduced) - 1:  # neighbours
            inner = x.shape[reduced[-1] + 1 :].numel()
            rows = x.reshape(count // inner, R, inner)
        else:
            rows = x.permute(kept + reduced).reshape(count, R, 1)
        double = dtype == torch.float64
        sums = sum_rows(rows, y, double)
        blocks = triton.cdiv(count, 4096)
        means, squares = (torch.empty(blocks, dtype=sums.dtype, device=x.device) for _ in range(2))
        size = min(triton.next_power_of_2(count), 4096)
        spread_kernel[(blocks,)](sums, means, squares, count, size, num_warps=8)
        merge_kernel[(1,)](means, squares, y, count, blocks, count - correction, size,
                           min(triton.next_power_of_2(blocks), 2048))  # fmt: skip
    else:
        zero_kernel[(1,)](y)
    return y if direct or out is None else out.copy_(y)
