"""Sum over any dimensions, as sums over the rows of a strided matrix (kept, reduced).

A tile follows memory: long in the reduced direction where that is contiguous, wide in the kept direction otherwise.
Where there are too few rows to fill a GPU, each is cut into parts and a second launch adds the parts up: always in the
same order, so the result is the same every time.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def sum_kernel(
    x_ptr, y_ptr, M, R, stride_m, stride_r, part, ACC: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr
):
    """y[p, m] is the sum of x[m, p * part : (p + 1) * part]."""
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    first = tl.program_id(1).to(tl.int64) * part
    last = tl.minimum(first + part, R)
    total = tl.zeros((ROWS, COLUMNS), ACC)
    for start in range(first, last, COLUMNS):
        column = start + tl.arange(0, COLUMNS)
        inside = (row < M)[:, None] & (column < last)[None, :]
        offsets = row[:, None] * stride_m + column[None, :].to(tl.int64) * stride_r
        total += tl.load(x_ptr + offsets, mask=inside, other=0).to(ACC)
    y = tl.sum(total, axis=1).to(y_ptr.dtype.element_ty)
    tl.store(y_ptr + tl.program_id(1).to(tl.int64) * M + row, y, mask=row < M)


def sum_rows(x, y, acc_torch, acc):
    """y[m] = sum of x[m, :]; y is contiguous."""
    M, R = x.shape
    size = 4096
    if x.stride(1) <= x.stride(0) or M == 1:
        columns = min(triton.next_power_of_2(max(R, 1)), size)
        rows = min(triton.next_power_of_2(M), size // columns)
    else:
        columns = min(triton.next_power_of_2(max(R, 1)), max(32, size // triton.next_power_of_2(M)))
        rows = min(triton.next_power_of_2(M), size // columns)
    programs = triton.cdiv(M, rows)
    parts = max(1, min(triton.cdiv(R, 4 * columns), triton.cdiv(1024, programs)))
    part = triton.cdiv(triton.cdiv(R, parts), columns) * columns
    parts = triton.cdiv(R, part) if part else 1
    target = y if parts == 1 else torch.empty((parts, M), dtype=acc_torch, device=x.device)
    sum_kernel[(programs, parts)](x, target, M, R, *x.stride(), part, acc, rows, columns, num_warps=8)
    if parts > 1:
        sum_rows(target.t(), y, acc_torch, acc)


def sum(input, dim, keepdim=False, dtype=None):
    rank = input.dim()
    reduced = sorted({d % max(rank, 1) for d in ([dim] if isinstance(dim, int) else dim or range(rank))})
    kept = [d for d in range(rank) if d not in reduced]
    dtype = dtype or (input.dtype if input.is_floating_point() else torch.int64)
    shape = [1 if d in reduced else n for d, n in enumerate(input.shape)] if keepdim else [input.shape[d] for d in kept]
    y = torch.empty(shape, dtype=dtype, device=input.device)
    if y.numel():
        R = input.numel() // y.numel()
        x = input.permute(kept + reduced if rank else []).reshape(y.numel(), R)
        if torch.float64 in (input.dtype, dtype):
            sum_rows(x, y, torch.float64, tl.float64)
        elif dtype.is_floating_point:
            sum_rows(x, y, torch.float32, tl.float32)
        else:
            sum_rows(x, y, torch.int64, tl.int64)
    return y
