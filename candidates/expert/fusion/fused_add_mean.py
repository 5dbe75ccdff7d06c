"""mean(input + alpha * other) over the rows of a strided matrix (kept, reduced), without the sum in memory.

A tile follows memory: long in the reduced direction where that is contiguous, wide in the kept direction otherwise.
Where there are too few rows to fill a GPU, each is cut into parts and a second launch adds the parts up: always in the
same order, so the result is the same every time.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def mean_kernel(
    x_ptr, other_ptr, y_ptr, M, R, x_m, x_r, other_m, other_r, number, alpha, part, divisor,
    OTHER: tl.constexpr, ACC: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """y[p, m] is the sum of x + alpha * other over row m between the columns p * part and (p + 1) * part, divided."""
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    first = tl.program_id(1).to(tl.int64) * part
    last = tl.minimum(first + part, R)
    total = tl.zeros((ROWS, COLUMNS), ACC)
    for start in range(first, last, COLUMNS):
        column = start + tl.arange(0, COLUMNS)
        inside = (row < M)[:, None] & (column < last)[None, :]
        x = tl.load(x_ptr + row[:, None] * x_m + column[None, :] * x_r, mask=inside, other=0.0).to(ACC)
        if OTHER == "tensor":
            other_ptrs = other_ptr + row[:, None] * other_m + column[None, :] * other_r
            x += alpha * tl.load(other_ptrs, mask=inside, other=0.0).to(ACC)
        elif OTHER == "number":
            x = tl.where(inside, x + alpha * number, 0.0)
        total += x
    y = (tl.sum(total, axis=1) / divisor).to(y_ptr.dtype.element_ty)
    tl.store(y_ptr + tl.program_id(1).to(tl.int64) * M + row, y, mask=row < M)


def mean_rows(x, other, alpha, y, divisor, double):
    """y[m] = (sum of x[m, :] + alpha * other[m, :]) / divisor; y is contiguous, other a matrix, a number or None."""
    M, R = x.shape
    size = 4096
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
    target = y
    if parts > 1:
        target = torch.empty((parts, M), dtype=torch.float64 if double else torch.float32, device=x.device)
    tensor = isinstance(other, torch.Tensor)
    mean_kernel[(programs, parts)](
        x, other if tensor else x, target, M, R, *x.stride(), *(other.stride() if tensor else (0, 0)),
        0.0 if tensor or other is None else float(other), float(alpha), part, divisor if parts == 1 else 1,
        "tensor" if tensor else "none" if other is None else "number", tl.float64 if double else tl.float32,
        rows, columns, num_warps=8,
    )  # fmt: skip
    if parts > 1:
        mean_rows(target.t(), None, 1, y, divisor, double)


def fused_add_mean(input, other, dim=None, alpha=1, keepdim=False, dtype=None, out=None):
    rank = input.dim()
    if dim is None or (not isinstance(dim, int) and not len(dim)):
        dim = range(rank)
    reduced = sorted({d % max(rank, 1) for d in ([dim] if isinstance(dim, int) else dim)} if rank else [])
    kept = [d for d in range(rank) if d not in reduced]
    shape = [1 if d in reduced else n for d, n in enumerate(input.shape)] if keepdim else [input.shape[d] for d in kept]
    dtype = dtype or input.dtype
    direct = out is not None and out.is_contiguous()
    y = out if direct else torch.empty(shape, dtype=dtype, device=input.device)
    if y.numel():
        R = input.numel() // y.numel()
        x, *others = (
            t.expand(input.shape).permute(kept + reduced).reshape(y.numel(), R)
            for t in (input, other)
            if isinstance(t, torch.Tensor)
        )
        double = torch.float64 in (input.dtype, dtype)
        mean_rows(x, others[0] if others else other, alpha, y, R, double)
    return y if direct or out is None else out.copy_(y)
