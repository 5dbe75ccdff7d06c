"""Mean over any dimensions, as means over the middle axis of a tensor (outer, R, inner).

A row is one of the outer * inner sets of R elements. A tile follows memory: long in the reduced direction where that is
contiguous, wide in the kept one otherwise. Where there are too few rows to fill a GPU, each is cut into parts and a
second launch adds the parts up: always in the same order, so the result is the same every time.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def mean_kernel(
    x_ptr, y_ptr, like_ptr, M, R, inner, stride_o, stride_r, stride_i, part, count,
    ACC: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """y[p, m] is the sum of the elements p * part to (p + 1) * part of row m, of the type of like, over count."""
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    base = row // inner * stride_o + row % inner * stride_i
    first = tl.program_id(1).to(tl.int64) * part
    total = tl.zeros((ROWS, COLUMNS), ACC)
    for start in range(first, tl.minimum(first + part, R), COLUMNS):
        column = start + tl.arange(0, COLUMNS)
        inside = (row < M)[:, None] & (column < R)[None, :]
        x = tl.load(x_ptr + base[:, None] + column[None, :].to(tl.int64) * stride_r, mask=inside, other=0)
        total += x.to(like_ptr.dtype.element_ty).to(ACC)
    y = tl.sum(total, axis=1) / count
    tl.store(y_ptr + tl.program_id(1).to(tl.int64) * M + row, y.to(y_ptr.dtype.element_ty), mask=row < M)


def mean_rows(x, y, like, count):
    """y = the sums over axis 1 of x, divided by count; y is contiguous."""
    outer, R, inner = x.shape
    M, size = outer * inner, 4096
    wide = inner > 1 and x.stride(2) < x.stride(1)
    columns = min(triton.next_power_of_2(max(R, 1)), max(32, size // triton.next_power_of_2(inner)) if wide else size)
    rows = min(triton.next_power_of_2(M), size // columns)
    programs = triton.cdiv(M, rows)
    parts = max(1, min(triton.cdiv(R, 4 * columns), triton.cdiv(1024, programs)))
    part = triton.cdiv(triton.cdiv(R, parts), columns) * columns
    parts = max(1, triton.cdiv(R, max(part, 1)))
    double = y.dtype == torch.float64
    target = y
    if parts > 1:
        target = torch.empty((1, parts, M), dtype=torch.float64 if double else torch.float32, device=x.device)
    mean_kernel[(programs, parts)](
        x, target, like, M, R, inner, *x.stride(), part, count if parts == 1 else 1,
        tl.float64 if double else tl.float32, rows, columns, num_warps=8,
    )  # fmt: skip
    if parts > 1:
        mean_rows(target, y, target, count)


def mean(input_tensor, dim, keepdim=False, dtype=None, out=None):
    x, rank = input_tensor, input_tensor.dim()
    dtype = dtype or x.dtype
    if not dtype.is_floating_point:
        raise RuntimeError(f"the mean has a floating-point type, not {dtype}; pass dtype=")
    whole = dim is None or dim == () or dim == []
    given = range(rank) if whole else [dim] if isinstance(dim, int) else dim
    reduced = sorted({d % max(rank, 1) for d in given}) if rank else []
    kept = [d for d in range(rank) if d not in reduced]
    shape = [1 if d in reduced else n for d, n in enumerate(x.shape)] if keepdim else [x.shape[d] for d in kept]
    direct = out is not None and out.is_contiguous() and out.dtype == dtype
    y = out if direct else torch.empty(shape, dtype=dtype, device=x.device)
    if y.numel():
        R = x.numel() // y.numel()
        if reduced and reduced[-1] - reduced[0] == len(reduced) - 1:  # neighbours
            inner = x.shape[reduced[-1] + 1 :].numel()
            rows = x.reshape(y.numel() // inner, R, inner)
        else:
            rows = x.permute(kept + reduced).reshape(y.numel(), R, 1)
        mean_rows(rows, y, y, R)
    return y if direct or out is None else out.copy_(y)
