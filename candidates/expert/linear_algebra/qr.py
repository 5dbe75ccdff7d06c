"""QR factorisation by Householder reflections, a panel of columns at a time.

The matrix is kept by columns, so that a program holds some whole columns of it. A launch goes one panel forward: every
program applies the reflections of the last panel to its columns; the first one, whose columns come next, then makes
reflections of them, while the others are still at work. Below the diagonal the vectors of the reflections stay. Q is
what all reflections, the last one first, make of the unit matrix. Programs take several matrices if these are small.
"""

import torch
import triton
import triton.language as tl


@triton.jit(do_not_specialize=["first", "count", "start"])
def panel_kernel(
    work_ptr, tau_ptr, MATRICES, ROWS, COLS, REFLECTIONS, first, count, start,
    GROUP: tl.constexpr, WIDTH: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Apply `count` reflections, from `first` on, to columns from `start` on; go on with those of the first program."""
    matrix = (tl.program_id(0).to(tl.int64) * GROUP + tl.arange(0, GROUP))[:, None, None]
    column = start + tl.program_id(1) * WIDTH + tl.arange(0, WIDTH)[None, :, None]
    row = first + tl.arange(0, BLOCK)[None, None, :]
    work_ptr += matrix * COLS * ROWS + row
    tau_ptr += matrix * REFLECTIONS
    valid = (matrix < MATRICES) & (row < ROWS)
    mask = valid & (column < COLS)
    c = tl.load(work_ptr + column.to(tl.int64) * ROWS, mask=mask, other=0.0)
    upcoming = tl.load(work_ptr + first.to(tl.int64) * ROWS, mask=valid & (row > first) & (count > 0), other=0.0)
    for j in range(first, first + count):
        v = tl.where(row == j, 1.0, upcoming)
        upcoming = tl.load(
            work_ptr + (j + 1).to(tl.int64) * ROWS, mask=valid & (row > j + 1) & (j + 1 < first + count), other=0.0
        )
        tau = tl.load(tau_ptr + j, mask=matrix < MATRICES, other=0.0)
        c -= tau * tl.sum(c * v, axis=2)[:, :, None] * v
    if (tl.program_id(1) == 0) & (start < REFLECTIONS):
        for j in range(start, start + WIDTH):
            own = column == j
            x = tl.sum(tl.where(own, c, 0.0), axis=1)[:, None, :]
            diagonal = tl.sum(tl.where(row == j, x, 0.0), axis=2)[:, :, None].to(tl.float64)
            below = tl.where(row > j, x, 0.0)
            # In float64 the squares of no float32 overflow.
            square = tl.sum(below.to(tl.float64) * below.to(tl.float64), axis=2)[:, :, None]
            moves = (square > 0.0) & (j < REFLECTIONS)
            length = tl.sqrt(diagonal * diagonal + square)
            image = tl.where(diagonal > 0.0, -length, length)
            v = tl.where(row == j, 1.0, below / tl.where(moves, diagonal - image, 1.0).to(x.dtype))
            tau = tl.where(moves, (image - diagonal) / tl.where(moves, image, 1.0), 0.0).to(x.dtype)
            tl.store(tau_ptr + j, tau, mask=(matrix < MATRICES) & (j < REFLECTIONS))
            reflected = c - tau * tl.sum(c * v, axis=2)[:, :, None] * v
            kept = tl.where(row == j, image.to(x.dtype), tl.where(row > j, v, c))
            c = tl.where(column > j, reflected, tl.where(own & moves, kept, c))
    tl.store(work_ptr + column.to(tl.int64) * ROWS, c, mask=mask)


@triton.jit
def q_kernel(
    work_ptr, tau_ptr, q_ptr, MATRICES, ROWS, COLS, REFLECTIONS, Q_COLS, q_matrix, q_row, q_column,
    GROUP: tl.constexpr, WIDTH: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Some columns of Q. A reflection leaves the columns of the unit matrix before its own as they are."""
    matrix = (tl.program_id(0).to(tl.int64) * GROUP + tl.arange(0, GROUP))[:, None, None]
    column = tl.program_id(1) * WIDTH + tl.arange(0, WIDTH)[None, :, None]
    row = tl.arange(0, BLOCK)[None, None, :]
    work_ptr += matrix * COLS * ROWS + row
    tau_ptr += matrix * REFLECTIONS
    valid = (matrix < MATRICES) & (row < ROWS)
    q = tl.where((row == column) & valid, 1.0, 0.0).to(q_ptr.dtype.element_ty)
    last = tl.minimum(tl.program_id(1) * WIDTH + WIDTH, REFLECTIONS) - 1
    upcoming = tl.load(work_ptr + last.to(tl.int64) * ROWS, mask=valid & (row > last) & (last >= 0), other=0.0)
    for step in range(0, last + 1):
        j = last - step
        v = tl.where(row == j, 1.0, upcoming)
        upcoming = tl.load(work_ptr + (j - 1).to(tl.int64) * ROWS, mask=valid & (row >= j) & (j > 0), other=0.0)
        tau = tl.load(tau_ptr + j, mask=matrix < MATRICES, other=0.0)
        q -= tau * tl.sum(q * v, axis=2)[:, :, None] * v
    at = matrix * q_matrix + row.to(tl.int64) * q_row + column.to(tl.int64) * q_column
    tl.store(q_ptr + at, q, mask=valid & (column < Q_COLS))


@triton.jit
def r_kernel(work_ptr, r_ptr, ROWS, COLS, R_ROWS, r_matrix, r_row, r_column, BLOCK: tl.constexpr):
    """The part of work on and above the diagonal, 0 below it."""
    matrix = tl.program_id(0).to(tl.int64)
    row = (tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)).to(tl.int64)[:, None]
    column = (tl.program_id(2) * BLOCK + tl.arange(0, BLOCK)).to(tl.int64)[None, :]
    mask = (row < R_ROWS) & (column < COLS)
    r = tl.load(work_ptr + (matrix * COLS + column) * ROWS + row, mask=mask & (row <= column), other=0.0)
    tl.store(r_ptr + matrix * r_matrix + row * r_row + column * r_column, r, mask=mask)


def tile(matrices, rows, columns, wide):
    """How many matrices, columns of each and rows a program takes, and its warps: at most 32,768 values."""
    block = triton.next_power_of_2(max(1, rows))
    values = 32768 if block >= 4096 else 16384
    width = min(triton.next_power_of_2(columns), 32 if block < 256 else 16, max(1, (values >> wide) // block))
    group = max(1, min(triton.next_power_of_2(matrices), 2048 // (width * block)))
    return dict(GROUP=group, WIDTH=width, BLOCK=block, num_warps=max(1, min(16, group * width * block // 1024)))


def factorise(work, reflections):
    """Reflections of [matrices, columns, rows], in place, and their factors tau."""
    matrices, columns, rows = work.shape
    tau = torch.empty((matrices, max(1, reflections)), dtype=work.dtype, device=work.device)
    first = count = start = 0
    while start < columns and (count or not start):
        shape = tile(matrices, rows - first, columns - start, work.dtype == torch.float64)
        tiles = triton.cdiv(columns - start, shape["WIDTH"]) if count else 1
        grid = (triton.cdiv(matrices, shape["GROUP"]), tiles)
        panel_kernel[grid](work, tau, matrices, rows, columns, reflections, first, count, start, **shape)
        first, count, start = start, min(shape["WIDTH"], reflections - start), start + shape["WIDTH"]
    return tau


def qr(A, mode="reduced", out=None):
    if mode not in ("reduced", "complete", "r"):
        raise RuntimeError(f"mode must be 'reduced', 'complete' or 'r', but is {mode!r}")
    *batch, M, N = A.shape
    K = min(M, N)
    matrices = 1
    for n in batch:
        matrices *= n
    q_columns = M if mode == "complete" else K
    R = torch.empty((*batch, q_columns, N), dtype=A.dtype, device=A.device)
    Q = torch.empty((*batch, M, q_columns) if mode != "r" else 0, dtype=A.dtype, device=A.device)
    work = torch.empty((*batch, N, M), dtype=A.dtype, device=A.device)
    work.copy_(A.mT)
    work = work.view(matrices, N, M)
    tau = factorise(work, K) if work.numel() else work
    if R.numel():
        block = min(64, triton.next_power_of_2(max(q_columns, N)))
        r = R.view(matrices, q_columns, N)
        grid = (matrices, triton.cdiv(q_columns, block), triton.cdiv(N, block))
        r_kernel[grid](work, r, M, N, q_columns, *r.stride(), BLOCK=block)
    if Q.numel():
        shape = tile(matrices, M, q_columns, A.dtype == torch.float64)
        q = Q.view(matrices, M, q_columns)
        grid = (triton.cdiv(matrices, shape["GROUP"]), triton.cdiv(q_columns, shape["WIDTH"]))
        q_kernel[grid](work, tau, q, matrices, M, N, K, q_columns, *q.stride(), **shape)
    if out is None:
        return Q, R
    for given, found in zip(out, (Q, R), strict=True):
        given.resize_(found.shape).copy_(found)
    return out[0], out[1]
