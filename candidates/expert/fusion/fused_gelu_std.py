"""Standard deviation of GELU over any dimensions, as that over the middle axis of a tensor (outer, R, inner), in one
pass, GELU being computed on the way.

Every lane of a tile follows Welford: mean, and sum of squares about it. At the end the lanes, and in a second launch
the parts that long rows are cut into, are merged as Chan, Golub and LeVeque do. Nothing cancels, however large the mean
is.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def gelu(x, TANH: tl.constexpr):
    if TANH:
        u = 0.7978845608028654 * (x + 0.044715 * x * x * x)  # sqrt(2 / pi)
        y = x / (1.0 + tl.exp(-2.0 * u))  # (1 + tanh(u)) / 2 = 1 / (1 + exp(-2 u))
    else:
        y = 0.5 * x * (1.0 + tl.erf(x * 0.7071067811865476))
    return y


@triton.jit
def merged(count, mean, m2):
    """Mean, and sum of squares about it, of the sets along axis 1: of `count` values each, none counts nothing."""
    n = tl.sum(count, axis=1)
    whole = tl.sum(count * mean, axis=1) / tl.maximum(n, 1.0)
    d = mean - whole[:, None]
    return whole, tl.sum(m2 + count * d * d, axis=1)


@triton.jit
def rows_kernel(
    x_ptr, y_ptr, m2_ptr, M, R, inner, stride_o, stride_r, stride_i, part, divisor,
    TANH: tl.constexpr, FINAL: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """Of the elements p * part to (p + 1) * part of a row: if FINAL the deviation, else mean and m2."""
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    base = row // inner * stride_o + row % inner * stride_i
    first = tl.program_id(1).to(tl.int64) * part
    last = tl.minimum(first + part, R)
    mean = tl.zeros((ROWS, COLUMNS), tl.float32)
    m2 = tl.zeros((ROWS, COLUMNS), tl.float32)
    seen = 0.0
    for start in range(first, last, COLUMNS):
        column = start + tl.arange(0, COLUMNS)
        inside = (row < M)[:, None] & (column < R)[None, :]
        x_ptrs = x_ptr + base[:, None] + column[None, :].to(tl.int64) * stride_r
        x = gelu(tl.load(x_ptrs, mask=inside, other=0.0).to(tl.float32), TANH)
        seen += 1.0
        d = tl.where(inside, x - mean, 0.0)  # lanes that are outside have seen their last
        mean += d * (1.0 / seen)
        m2 += tl.where(inside, d * (x - mean), 0.0)
    lane = tl.arange(0, COLUMNS)[None, :]
    count = tl.zeros((ROWS, COLUMNS), tl.float32) + ((last - first - lane + COLUMNS - 1) // COLUMNS).to(tl.float32)
    whole, squares = merged(count, mean, m2)
    squares = tl.where(R > 1, squares, 0.0)
    target = tl.program_id(1).to(tl.int64) * M + row
    if FINAL:
        tl.store(y_ptr + target, tl.sqrt(squares / divisor).to(y_ptr.dtype.element_ty), mask=row < M)
    else:
        tl.store(y_ptr + target, whole, mask=row < M)
        tl.store(m2_ptr + target, squares, mask=row < M)


@triton.jit
def parts_kernel(mean_ptr, m2_ptr, y_ptr, M, R, part, parts, divisor, ROWS: tl.constexpr, PARTS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)[:, None]
    p = tl.arange(0, PARTS)[None, :].to(tl.int64)
    inside = (row < M) & (p < parts)
    mean = tl.load(mean_ptr + p * M + row, mask=inside, other=0.0)
    m2 = tl.load(m2_ptr + p * M + row, mask=inside, other=0.0)
    count = tl.where(inside, tl.minimum(R - p * part, part).to(tl.float32), 0.0)
    _, squares = merged(count, mean, m2)
    y = tl.sqrt(tl.where(R > 1, squares, 0.0) / divisor)[:, None]
    tl.store(y_ptr + row, y.to(y_ptr.dtype.element_ty), mask=row < M)


def std_rows(x, y, divisor, tanh):
    """y = deviations over axis 1 of gelu(x); y is contiguous."""
    outer, R, inner = x.shape
    M, size = outer * inner, 4096
    wide = inner > 1 and x.stride(2) < x.stride(1)
    columns = min(triton.next_power_of_2(max(R, 1)), max(32, size // triton.next_power_of_2(inner)) if wide else size)
    rows = min(triton.next_power_of_2(M), size // columns)
    programs = triton.cdiv(M, rows)
    parts = max(1, min(triton.cdiv(R, 4 * columns), triton.cdiv(1024, programs)))
    part = triton.cdiv(triton.cdiv(R, parts), columns) * columns
    parts = max(1, triton.cdiv(R, max(part, 1)))
    mean, m2 = y, y
    if parts > 1:
        mean, m2 = (torch.empty((parts, M), dtype=torch.float32, device=x.device) for _ in range(2))
    rows_kernel[(programs, parts)](
        x, mean, m2, M, R, inner, *x.stride(), part, divisor, tanh, parts == 1, rows, columns,
        num_warps=8, enable_fp_fusion=False,  # fused into x - mean, a GELU would differ from itself
    )  # fmt: skip
    if parts > 1:
        width = triton.next_power_of_2(parts)
        rows = min(triton.next_power_of_2(M), max(1, 2048 // width))
        parts_kernel[(triton.cdiv(M, rows),)](mean, m2, y, M, R, part, parts, divisor, rows, width, num_warps=8)


def fused_gelu_std(input, dim=None, keepdim=False, correction=1, approximate="none", out=None):
    if approximate not in ("none", "tanh"):
        raise RuntimeError(f"approximate must be 'none' or 'tanh', not {approximate!r}")
    x, rank = input, input.dim()
    whole = dim is None or dim == () or dim == []
    given = range(rank) if whole else [dim] if isinstance(dim, int) else dim
    reduced = sorted({d % max(rank, 1) for d in given}) if rank else []
    kept = [d for d in range(rank) if d not in reduced]
    shape = [1 if d in reduced else n for d, n in enumerate(x.shape)] if keepdim else [x.shape[d] for d in kept]
    direct = out is not None and out.is_contiguous()
    y = out if direct else torch.empty(shape, dtype=x.dtype, device=x.device)
    if y.numel():
        R = x.numel() // y.numel()
        if reduced and reduced[-1] - reduced[0] == len(reduced) - 1:  # neighbours
            inner = x.shape[reduced[-1] + 1 :].numel()
            rows = x.reshape(y.numel() // inner, R, inner)
        else:
            rows = x.permute(kept + reduced).reshape(y.numel(), R, 1)
        std_rows(rows, y, float(max(R - correction, 0)), approximate == "tanh")
    return y if direct or out is None else out.copy_(y)
