"""Minimum of GELU and where it is, over the middle axis of a tensor (outer, R, inner), GELU being computed on the way.

Every lane of a tile keeps the least of what it has seen, replaced only by what is strictly less, so it has the first;
at the end the lanes agree on the least value and among its holders on the lowest index. NaN is less than any number.
Where there are too few rows to fill a GPU, each is cut into parts and a second launch compares the winners.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def gelu(x, FORM: tl.constexpr):
    x = x.to(tl.float32)
    if FORM == "tanh":
        u = 0.7978845608028654 * (x + 0.044715 * x * x * x)  # sqrt(2 / pi)
        x = x / (1.0 + tl.exp(-2.0 * u))  # (1 + tanh(u)) / 2 = 1 / (1 + exp(-2 u))
    if FORM == "none":
        x = 0.5 * x * (1.0 + tl.erf(x * 0.7071067811865476))
    return x


@triton.jit
def min_kernel(
    x_ptr, from_ptr, value_ptr, index_ptr, M, R, inner, stride_o, stride_r, stride_i, part,
    FORM: tl.constexpr, COUNT: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """Value and index (through from_ptr, if there) of the least of the elements p * part to (p + 1) * part of row m."""
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    base = (row // inner * stride_o + row % inner * stride_i)[:, None]
    first = tl.program_id(1).to(COUNT) * part
    last = tl.minimum(first + part, R).to(COUNT)
    column = first + tl.arange(0, COLUMNS).to(COUNT)[None, :]
    held = (row < M)[:, None] & (column < last)
    best = gelu(tl.load(x_ptr + base + column.to(tl.int64) * stride_r, mask=held, other=float("inf")), FORM)
    where = tl.zeros((ROWS, COLUMNS), COUNT) + column
    for start in range(first + COLUMNS, last, COLUMNS):
        column = start + tl.arange(0, COLUMNS).to(COUNT)[None, :]
        inside = (row < M)[:, None] & (column < R)
        x = gelu(tl.load(x_ptr + base + column.to(tl.int64) * stride_r, mask=inside, other=float("inf")), FORM)
        better = (x < best) | ((x != x) & (best == best))
        best = tl.where(better, x, best)
        where = tl.where(better, column, where)
    nan = held & (best != best)
    any_nan = tl.max(nan.to(tl.int32), axis=1) != 0
    value = tl.min(tl.where(nan, float("inf"), best), axis=1)
    holders = tl.where(any_nan[:, None], nan, held & (best == value[:, None]))
    value = tl.where(any_nan, float("nan"), value)
    index = tl.min(tl.where(holders, where, last), axis=1).to(tl.int64)
    if from_ptr is not None:
        index = tl.load(from_ptr + index * M + row, mask=row < M)
    target = tl.program_id(1).to(tl.int64) * M + row
    tl.store(index_ptr + target, index, mask=row < M)
    tl.store(value_ptr + target, value, mask=row < M)


def min_rows(x, indices, values, index, form):
    """The minima over axis 1 of x; `indices` are what its elements came from, None if from x itself."""
    outer, R, inner = x.shape
    M, size = outer * inner, 2048
    wide = inner > 1 and x.stride(2) < x.stride(1)
    columns = min(triton.next_power_of_2(R), max(32, size // triton.next_power_of_2(inner)) if wide else size)
    rows = min(triton.next_power_of_2(M), size // columns)
    programs = triton.cdiv(M, rows)
    parts = max(1, min(triton.cdiv(R, 4 * columns), triton.cdiv(1024, programs)))
    part = triton.cdiv(triton.cdiv(R, parts), columns) * columns
    parts = triton.cdiv(R, part)
    to_values, to_index = values, index
    if parts > 1:
        to_values = torch.empty((1, parts, M), dtype=torch.float32, device=x.device)
        to_index = torch.empty((parts, M), dtype=torch.int64, device=x.device)
    min_kernel[(programs, parts)](
        x, indices, to_values, to_index, M, R, inner, *x.stride(), part,
        form, tl.int32 if R < 2**30 else tl.int64, rows, columns, num_warps=8,
    )  # fmt: skip
    if parts > 1:
        min_rows(to_values, to_index, values, index, "")


def fused_gelu_min(input, approximate="none", dim=None, keepdim=False, out=None):
    if approximate not in ("none", "tanh"):
        raise RuntimeError(f"approximate must be 'none' or 'tanh', not {approximate!r}")
    sides = [input.numel()] if dim is None else list(input.shape)
    axis = 0 if dim is None else dim % len(sides)
    if sides[axis] == 0:
        raise IndexError(f"dimension {axis} has length 0, which has no minimum")
    shape = [] if dim is None else sides[:axis] + ([1] if keepdim else []) + sides[axis + 1 :]
    values = torch.empty(shape, dtype=input.dtype, device=input.device)
    index = torch.empty(shape, dtype=torch.int64, device=input.device)
    if input.numel():
        rows = input.reshape(-1, sides[axis], torch.Size(sides[axis + 1 :]).numel())
        min_rows(rows, None, values, index, approximate)
    if dim is None:
        return values if out is None else out.copy_(values)
    return (values, index) if out is None else (out[0].copy_(values), out[1].copy_(index))
