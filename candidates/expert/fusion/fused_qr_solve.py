"""Least squares by Householder reflections of [A | b], and a triangular system by blocks of 64 rows.

The matrix is kept by columns, so that a program holds some whole columns of it. A launch goes one panel forward: every
program applies the reflections of the last panel to its columns; the first one, whose columns come next, then makes
reflections of them, while the others are still at work. The columns of b come last and are only reflected: so they
become Q^T b, and Q itself is not needed.

R x = Q^T b is solved with the inverses of the blocks on R's diagonal, which one launch makes all. Then a launch goes
one block up: every program takes what the last known block of x contributes from 64 rows of the right-hand side; the
first one, whose rows come next, then makes x of them.
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
def inverse_kernel(a_ptr, inverse_ptr, N, a_row, a_column, BLOCK: tl.constexpr):
    """Inverses of the blocks on A's diagonal, [blocks, BLOCK, BLOCK], row by row from the last one up."""
    start = tl.program_id(0).to(tl.int64) * BLOCK
    a_ptr += start * (a_row + a_column)
    rows = tl.minimum(N - start, BLOCK).to(tl.int32)
    i = tl.arange(0, BLOCK)[:, None]
    j = tl.arange(0, BLOCK)[None, :]
    inverse = tl.zeros((BLOCK, BLOCK), inverse_ptr.dtype.element_ty)
    upcoming = tl.load(a_ptr + (rows - 1) * a_row + i * a_column, mask=i == rows - 1, other=0.0)
    for step in range(0, rows):
        row = rows - 1 - step
        a = upcoming
        mask = (i >= row - 1) & (i < rows) & (row > 0)
        upcoming = tl.load(a_ptr + (row - 1) * a_row + i * a_column, mask=mask, other=0.0)
        diagonal = tl.sum(tl.where(i == row, a, 0.0))
        known = tl.sum(a * inverse, axis=0)[None, :]
        inverse = tl.where(i == row, (tl.where(j == row, 1.0, 0.0) - known) / diagonal, inverse)
    tl.store(inverse_ptr + start * BLOCK + i * BLOCK + j, inverse)


@triton.jit
def product(a, b):
    """Matrix product; that with a single column is made without the units for products."""
    return tl.sum(a * tl.trans(b), axis=1)[:, None] if b.shape[1] == 1 else tl.dot(a, b, input_precision="ieee")


@triton.jit(do_not_specialize=["step"])
def solve_kernel(
    r_ptr, inverse_ptr, b_ptr, x_ptr, N, K, step, r_row, r_column, b_row, b_column,
    BLOCK: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """The right-hand side b [N, K] becomes x, from the last block of rows up."""
    block = tl.cdiv(N, BLOCK) - 1 - step - tl.program_id(0)
    row = (block * BLOCK + tl.arange(0, BLOCK)).to(tl.int64)[:, None]
    column = (tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)).to(tl.int64)[None, :]
    i = tl.arange(0, BLOCK)[:, None]
    j = tl.arange(0, BLOCK)[None, :]
    first = tl.program_id(0) == 0
    inverse_ptr += block.to(tl.int64) * BLOCK * BLOCK
    inverse = tl.load(inverse_ptr + i * BLOCK + j, mask=first & (i >= 0), other=0.0)
    mask = (row < N) & (column < K)
    x = tl.load(b_ptr + row * b_row + column * b_column, mask=mask, other=0.0)
    if step > 0:
        known = (block + 1 + tl.program_id(0)).to(tl.int64) * BLOCK
        r = tl.load(r_ptr + row * r_row + (known + j) * r_column, mask=(row < N) & (known + j < N), other=0.0)
        last_at = b_ptr + (known + i) * b_row + column * b_column
        x -= product(r, tl.load(last_at, mask=(known + i < N) & (column < K), other=0.0))
    if first:
        x = product(inverse, x)
        tl.store(x_ptr + row * K + column, x, mask=mask)
    tl.store(b_ptr + row * b_row + column * b_column, x, mask=mask)


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


def fused_qr_solve(A, b):
    M, N = A.shape
    if M < N or b.shape[0] != M:
        raise RuntimeError(f"A must be [M, N] with M >= N and b [M, K], but they are {list(A.shape)}, {list(b.shape)}")
    K = b.shape[1]
    x = torch.empty((N, K), dtype=A.dtype, device=A.device)
    if not x.numel():
        return x
    work = torch.empty((1, N + K, M), dtype=A.dtype, device=A.device)
    work[0, :N].copy_(A.mT)
    work[0, N:].copy_(b.mT)
    factorise(work, N)
    r, right = work[0, :N].mT, work[0, N:].mT
    block = min(64, max(16, triton.next_power_of_2(N)))
    blocks = triton.cdiv(N, block)
    inverse = torch.empty((blocks, block, block), dtype=A.dtype, device=A.device)
    inverse_kernel[(blocks,)](r, inverse, N, *r.stride(), BLOCK=block)
    columns = 1 if K == 1 else 16
    for step in range(blocks):
        grid = (blocks - step if step else 1, triton.cdiv(K, columns))
        solve_kernel[grid](
            r, inverse, right, x, N, K, step, *r.stride(), *right.stride(), BLOCK=block, COLUMNS=columns, num_warps=8
        )
    return x
