"""argmax over the rows of a strided matrix (kept, reduced).

Every lane of a tile keeps the best of what it has seen, replaced only by what is strictly better, so it has the first;
at the end the lanes agree on the best value and among its holders on the lowest index. NaN is better than any number.
Where there are too few rows to fill a GPU, each is cut into parts and a second launch compares the winners.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def argmax_kernel(
    x_ptr, from_ptr, value_ptr, index_ptr, M, R, stride_m, stride_r, part, lowest,
    FLOAT: tl.constexpr, COUNT: tl.constexpr, FINAL: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """Index (through from_ptr, if there) and, unless FINAL, value of the best of x[m, p * part : (p + 1) * part]."""
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    first = tl.program_id(1).to(COUNT) * part
    last = tl.minimum(first + part, R).to(COUNT)
    kind: tl.constexpr = tl.float32 if FLOAT else tl.int64
    column = first + tl.arange(0, COLUMNS).to(COUNT)[None, :]
    held = (row < M)[:, None] & (column < last)
    x_ptrs = x_ptr + row[:, None] * stride_m + column.to(tl.int64) * stride_r
    best = tl.load(x_ptrs, mask=held, other=lowest).to(kind)
    where = tl.zeros((ROWS, COLUMNS), COUNT) + column
    for start in range(first + COLUMNS, last, COLUMNS):
        column = start + tl.arange(0, COLUMNS).to(COUNT)[None, :]
        x_ptrs = x_ptr + row[:, None] * stride_m + column.to(tl.int64) * stride_r
        x = tl.load(x_ptrs, mask=(row < M)[:, None] & (column < last), other=lowest).to(kind)
        better = x > best
        if FLOAT:
            better = better | ((x != x) & (best == best))
        best = tl.where(better, x, best)
        where = tl.where(better, column, where)
    value = tl.max(tl.where(best == best, best, lowest), axis=1)
    holders = held & (best == value[:, None])
    if FLOAT:
        nan = held & (best != best)
        any_nan = tl.max(nan.to(tl.int32), axis=1) != 0
        holders = tl.where(any_nan[:, None], nan, holders)
        value = tl.where(any_nan, float("nan"), value)
    index = tl.min(tl.where(holders, where, last), axis=1).to(tl.int64)
    if from_ptr is not None:
        index = tl.load(from_ptr + index * M + row, mask=row < M)
    target = tl.program_id(1).to(tl.int64) * M + row
    tl.store(index_ptr + target, index, mask=row < M)
    if not FINAL:
        tl.store(value_ptr + target, value, mask=row < M)


def argmax_rows(x, indices, y):
    """y[m] = indices of the first maximum of x[m, :], a column number if `indices` is None."""
    M, R = x.shape
    size = 2048
    if x.stride(1) <= x.stride(0) or M == 1:
        columns = min(triton.next_power_of_2(R), size)
        rows = min(triton.next_power_of_2(M), size // columns)
    else:
        columns = min(triton.next_power_of_2(R), max(32, size // triton.next_power_of_2(M)))
        rows = min(triton.next_power_of_2(M), size // columns)
    programs = triton.cdiv(M, rows)
    parts = max(1, min(triton.cdiv(R, 4 * columns), triton.cdiv(1024, programs)))
    part = triton.cdiv(triton.cdiv(R, parts), columns) * columns
    parts = triton.cdiv(R, part)
    floating = x.is_floating_point()
    lowest = float("-inf") if floating else torch.iinfo(x.dtype).min
    index, values = y, y
    if parts > 1:
        index = torch.empty((parts, M), dtype=torch.int64, device=x.device)
        values = torch.empty((parts, M), dtype=torch.float32 if floating else torch.int64, device=x.device)
    argmax_kernel[(programs, parts)](
        x, indices, values, index, M, R, *x.stride(), part, lowest,
        floating, tl.int32 if R < 2**30 else tl.int64, parts == 1, rows, columns, num_warps=8,
    )  # fmt: skip
    if parts > 1:
        argmax_rows(values.t(), index, y)


def argmax(input_tensor, dim, keepdim=False):
    x = input_tensor
    if dim is None:
        shape = [1] * x.dim() if keepdim else []
        rows = x.reshape(1, -1)
    else:
        dim %= max(x.dim(), 1)
        shape = [*x.shape[:dim], *([1] if keepdim else []), *x.shape[dim + 1 :]]
        rows = (x.movedim(dim, -1) if x.dim() else x).reshape(-1, x.shape[dim] if x.dim() else 1)
    y = torch.empty(shape, dtype=torch.int64, device=x.device)
    if y.numel():
        argmax_rows(rows, None, y)
    return y
