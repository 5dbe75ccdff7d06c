"""softmax(log(x)) is x / sum(x): no exponential and no logarithm.

Everything is divided by the largest element first, so that the sum cannot overflow. The tensor is seen as (outer, N,
inner). A program takes a tile of slices by elements; neighbouring slices are neighbours in memory where inner > 1.
Slices of up to 8192 elements stay in registers: one read, one write. Longer ones are read twice: once for maximum and
sum together, rescaling the sum when the maximum grows, and once to write.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def whole_kernel(x_ptr, y_ptr, slices, N, inner, ROWS: tl.constexpr, COLUMNS: tl.constexpr, ACC: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, COLUMNS)
    offsets = (row // inner * N * inner + row % inner)[:, None] + column[None, :].to(tl.int64) * inner
    inside = (row < slices)[:, None] & (column < N)[None, :]
    x = tl.load(x_ptr + offsets, mask=inside, other=0.0).to(y_ptr.dtype.element_ty).to(ACC)
    share = x / tl.max(x, axis=1)[:, None]  # zeros alone give NaN, as they should
    y = share / tl.sum(tl.where(inside, share, 0.0), axis=1)[:, None]
    tl.store(y_ptr + offsets, y.to(y_ptr.dtype.element_ty), mask=inside)


@triton.jit
def long_kernel(x_ptr, y_ptr, slices, N, inner, ROWS: tl.constexpr, COLUMNS: tl.constexpr, ACC: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    base = (row // inner * N * inner + row % inner)[:, None]
    top = tl.zeros((ROWS,), ACC)
    total = tl.zeros((ROWS,), ACC)
    for start in range(0, N, COLUMNS):
        column = start + tl.arange(0, COLUMNS)
        inside = (row < slices)[:, None] & (column < N)[None, :]
        offsets = base + column[None, :].to(tl.int64) * inner
        x = tl.load(x_ptr + offsets, mask=inside, other=0.0).to(y_ptr.dtype.element_ty).to(ACC)
        higher = tl.maximum(top, tl.max(x, axis=1))
        divisor = tl.where(higher == 0.0, 1.0, higher)
        total = total * (top / divisor) + tl.sum(x / divisor[:, None], axis=1)
        top = higher
    for start in range(0, N, COLUMNS):
        column = start + tl.arange(0, COLUMNS)
        inside = (row < slices)[:, None] & (column < N)[None, :]
        offsets = base + column[None, :].to(tl.int64) * inner
        x = tl.load(x_ptr + offsets, mask=inside, other=0.0).to(y_ptr.dtype.element_ty).to(ACC)
        y = x / top[:, None] / total[:, None]
        tl.store(y_ptr + offsets, y.to(y_ptr.dtype.element_ty), mask=inside)


def fused_softmax_log(input, dim=-1, dtype=None):
    x = input.contiguous()
    y = torch.empty(x.shape, dtype=dtype or x.dtype, device=x.device)
    if not x.numel():
        return y
    dim %= max(x.dim(), 1)
    N = x.shape[dim] if x.dim() else 1
    inner = x.shape[dim + 1 :].numel()
    slices = x.numel() // N
    acc = tl.float64 if y.dtype == torch.float64 else tl.float32
    columns = triton.next_power_of_2(N)
    if columns <= 8192 and (inner == 1 or columns <= 128):
        rows = min(max(1, 4096 // columns), triton.next_power_of_2(slices))
        kernel = whole_kernel
    else:
        rows, columns = (1, 4096) if inner == 1 else (min(64, triton.next_power_of_2(slices)), 64)
        kernel = long_kernel
    warps = 8 if rows * columns >= 4096 else 4
    kernel[(triton.cdiv(slices, rows),)](x, y, slices, N, inner, rows, columns, acc, num_warps=warps)
    return y
