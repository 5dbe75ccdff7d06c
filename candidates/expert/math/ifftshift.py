"""ifftshift as one gather, by tiles of rows and columns: only a tile's row numbers are divided, columns wrap round.

Neighbouring dimensions that stay are joined; four that are left suffice. Otherwise half of `dim` is done at a time.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def moved(i, n, shift):
    return tl.where(i + shift >= n, i + shift - n, i + shift)


@triton.jit
def shift_kernel(
    x_ptr, y_ptr, rows, n0, n1, n2, n3, s0, s1, s2, s3, ROWS: tl.constexpr, COLUMNS: tl.constexpr
):
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    column = tl.program_id(1).to(tl.int64) * COLUMNS + tl.arange(0, COLUMNS)
    i0, i1, i2 = row // n2 // n1, row // n2 % n1, row % n2
    source = (moved(i0, n0, s0) * n1 + moved(i1, n1, s1)) * n2 + moved(i2, n2, s2)
    inside = (row < rows)[:, None] & (column < n3)[None, :]
    x = tl.load(x_ptr + source[:, None] * n3 + moved(column, n3, s3)[None, :], mask=inside)
    tl.store(y_ptr + row[:, None] * n3 + column[None, :], x, mask=inside)


def ifftshift(input, dim=None):
    x = input.contiguous()
    dims = range(x.dim()) if dim is None else (dim,) if isinstance(dim, int) else dim
    dims = sorted(d % x.dim() for d in dims)
    lengths, shifts = [], []
    for d, n in enumerate(x.shape):
        shift = n // 2 if d in dims else 0
        if lengths and not shift and not shifts[-1]:
            lengths[-1] *= n
        else:
            lengths.append(n)
            shifts.append(shift)
    if len(lengths) > 4:
        half = len(dims) // 2
        return ifftshift(ifftshift(x, dims[:half]), dims[half:])
    y = torch.empty_like(x)
    if y.numel():
        missing = 4 - len(lengths)
        lengths, shifts = [1] * missing + lengths, [0] * missing + shifts
        rows = y.numel() // lengths[3]
        columns = min(triton.next_power_of_2(lengths[3]), 4096)
        tile = min(triton.next_power_of_2(rows), 4096 // columns)
        grid = (triton.cdiv(rows, tile), triton.cdiv(lengths[3], columns))
        shift_kernel[grid](x, y, rows, *lengths, *shifts, tile, columns, num_warps=8)
    return y
