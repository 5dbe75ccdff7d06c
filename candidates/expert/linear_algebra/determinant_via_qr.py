"""Determinant by Householder reflections, a panel of columns at a time.

The matrix is kept by columns, so that a program holds some whole columns of it. A launch goes one panel forward: every
program applies the reflections of the last panel to its columns; the first one, whose columns come next, then makes
reflections of them, while the others are still at work. Q itself isn't needed: each reflection that moves something has
the determinant -1. The product of R's diagonal is taken in float64, where it can't overflow on the way.
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
def multiply(a, b):
    return a * b


@triton.jit
def product_kernel(work_ptr, tau_ptr, det_ptr, N, BLOCK: tl.constexpr):
    """The product of the diagonal of work, its sign changed for every tau that is not 0."""
    product = tl.full((BLOCK,), 1.0, tl.float64)
    for first in range(0, N, BLOCK):
        i = (first + tl.arange(0, BLOCK)).to(tl.int64)
        diagonal = tl.load(work_ptr + i * (N + 1), mask=i < N, other=1.0).to(tl.float64)
        tau = tl.load(tau_ptr + i, mask=i < N, other=0.0)
        product *= tl.where(tau != 0.0, -diagonal, diagonal)
    tl.store(det_ptr, tl.reduce(product, 0, multiply))


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


def determinant_via_qr(A, *, mode="reduced", out=None):
    if mode not in ("reduced", "complete"):
        raise RuntimeError(f"mode must be 'reduced' or 'complete', but is {mode!r}")
    N = A.shape[-1]
    work = torch.empty((1, N, N), dtype=A.dtype, device=A.device)
    work[0].copy_(A.mT)
    tau = factorise(work, N) if N else work
    det = torch.empty((), dtype=A.dtype, device=A.device) if out is None else out
    product_kernel[(1,)](work, tau, det, N, BLOCK=min(256, triton.next_power_of_2(max(1, N))))
    return det
