"""Mean of exponentials over any dimensions, as means over the middle axis of a tensor (outer, R, inner).

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
    EXP: tl.constexpr, ACC: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """y[p, m] is the sum of the elements p * part to (p + 1) * part of row m, of their exponentials if EXP, over count.

    Elements first get the type of `like`."""
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    base = row // inner * stride_o + row % inner * stride_i
    first = tl.program_id(1).to(tl.int64) * part
    total = tl.zeros((ROWS, COLUMNS), ACC)
    for start in range(first, tl.minimum(first + part, R), COLUMNS):
        column = start + tl.arange(0, COLUMNS)
        inside = (row < M)[:, None] & (column < R)[None, :]
        x_ptrs = x_ptr + base[:, None] + column[None, :].to(tl.int64) * stride_r
        x = tl.load(x_ptrs, mask=inside, other=-float("inf") if EXP else 0.0).to(like_ptr.dtype.element_ty).to(ACC)
        total += tl.exp(x) if EXP else x
    y = tl.sum(total, axis=1) / count
    tl.store(y_ptr + tl.program_id(1).to(tl.int64) * M + row, y.to(y_ptr.dtype.element_ty), mask=row < M)


def mean_rows(x, y, like, count, exp):
    """y = the sums over axis 1 of x, or of its exponentials, divided by count; y is contiguous."""
    outer, R, inner = x.shape
    M, size = outer * inner, 4096
    wide = inner > 1 and x.stride(2) < x.stride(1)
    columns = min(triton.next_power_of_2(max(R, 1)), max(32, size // triton.next_power_of_2(inner)) if wide else size)
    rows = min(triton.next_power_of_2(M), size // columns)
    programs = triton.cdiv(M, rows)
    parts = max(1, min(triton.cdiv(R, 4 * columns), triton.cdiv(1024, programs)))
    part = triton.cdiv(triton.cdiv(R, parts), columns) * columns
    parts = max(1, triton.cdiv(R, max(part, 1)))
    double = like.dtype == torch.float64
    target = y
    if parts > 1:
        target = torch.empty((1, parts, M), dtype=torch.float64 if double else torch.float32, device=x.device)
    mean_kernel[(programs, parts)](
        x, target, like, M, R, inner, *x.stride(), part, count if parts == 1 else 1,
        exp, tl.float64 if double else tl.float32, rows, columns, num_warps=8,
    )  # fmt: skip
    if parts > 1:
        mean_rows(target, y, target, count, False)


def fused_exp_mean(input, dim=None, keepdim=False, dtype=None, out=None):
    x, rank = input, input.dim()
    dtype = dtype or x.dtype
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
        mean_rows(rows, y, y, R, True)
    return y if direct or out is None else out.copy_(y)
