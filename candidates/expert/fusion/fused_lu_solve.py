"""Solution of A x = b by LU factorisation of [A | b]: b becomes y with L y = P^T b, and U x = y is left.

Rows are exchanged on paper alone: order[i] is the row of A that stands at place i. A panel of some columns of all rows
that are left is factorised in registers, by one program; its rows of U and the rest of the matrix, less the product of
both, are the work of many. Then x comes from U and y, 32 unknowns at a time, from the last up.
"""

import torch
import triton
import triton.language as tl


@triton.jit(do_not_specialize=["k", "width", "one"])
def panel_kernel(a_ptr, u_ptr, order_ptr, failed_ptr, N, W, k, width, one,
                 COLS: tl.constexpr, ROWS: tl.constexpr):
    """Factorise columns k to k + width of the rows that are left: L into a, where they stand, and U into u, in order.

    `one`, the distance of columns, is not known to the compiler: so it gives every thread whole rows of the panel,
    which costs some loads, and saves exchanges between threads in the loop.
    """
    row = tl.arange(0, ROWS)
    col = tl.arange(0, COLS)[:, None]
    place = row + k
    inside = place < N
    mask = inside[None, :] & (col < width)
    origin_ptr = order_ptr + place
    origin = tl.load(origin_ptr, mask=inside, other=0).to(tl.int64)
    a = tl.load(a_ptr + (origin * W)[None, :] + (k + col) * one, mask=mask, other=0.0)
    zeros = 0
    for j in range(0, width):
        column = tl.sum(tl.where(col == j, a, 0.0), axis=0)
        size = tl.where(inside & (place >= k + j), tl.abs(column), -1.0)
        chosen = row == tl.argmax(size, axis=0)
        old = tl.sum(tl.where(chosen, place, 0), axis=0)
        place = tl.where(chosen, k + j, tl.where(place == k + j, old, place))
        pivots = tl.sum(tl.where(chosen[None, :], a, 0.0), axis=1)[:, None]
        pivot = tl.sum(tl.where(chosen, column, 0.0), axis=0)
        zeros += tl.where(pivot == 0.0, 1, 0)
        below = inside & (place > k + j)
        factor = tl.where(below, column / tl.where(pivot == 0.0, 1.0, pivot), 0.0)[None, :]
        a = tl.where((col == j) & below[None, :], factor, a - factor * tl.where(col > j, pivots, 0.0))
    origin = tl.load(origin_ptr, mask=inside, other=0)  # again: to keep it would take registers in the loop
    tl.debug_barrier()
    tl.store(a_ptr + (origin.to(tl.int64) * W)[None, :] + (k + col) * one, a, mask=mask)
    tl.store(order_ptr + place, origin, mask=inside)
    in_u = mask & (place[None, :] <= k + col)
    tl.store(u_ptr + (place.to(tl.int64) * W)[None, :] + (k + col) * one, a, mask=in_u)
    tl.store(failed_ptr + k, zeros)


@triton.jit(do_not_specialize=["k", "width", "end"])
def update_kernel(a_ptr, u_ptr, order_ptr, N, W, k, width, end,
                  PANEL: tl.constexpr, STEP: tl.constexpr, ROWS: tl.constexpr, COLS: tl.constexpr):
    """Columns up to `end` beside a panel: rows of U by forward substitution, and STEP rows below less L times these."""
    c = k + width + tl.program_id(0) * COLS + tl.arange(0, COLS)[None, :]
    p = tl.arange(0, PANEL)
    origin = tl.load(order_ptr + k + p, mask=p < width, other=0).to(tl.int64)
    known = (p < width)[:, None] & (c < end)
    u = tl.load(a_ptr + origin[:, None] * W + c, mask=known, other=0.0)
    for j in range(0, width):
        multiplier = tl.load(a_ptr + origin * W + k + j, mask=(p > j) & (p < width), other=0.0)
        u -= multiplier[:, None] * tl.sum(tl.where(p[:, None] == j, u, 0.0), axis=0)[None, :]
    if tl.program_id(1) == 0:
        tl.store(u_ptr + (k + p).to(tl.int64)[:, None] * W + c, u, mask=known)
    first = k + width + tl.program_id(1) * STEP
    last = tl.minimum(first + STEP, N)
    for start in range(first, last, ROWS):
        r = start + tl.arange(0, ROWS)
        row_ptr = a_ptr + tl.load(order_ptr + r, mask=r < last, other=0).to(tl.int64)[:, None] * W
        low = tl.load(row_ptr + k + p[None, :], mask=(r < last)[:, None] & (p < width)[None, :], other=0.0)
        at = row_ptr + c
        mask = (r < last)[:, None] & (c < end)
        a = tl.load(at, mask=mask, other=0.0)
        tl.store(at, a - tl.dot(low, u, input_precision="ieee", out_dtype=a.dtype), mask=mask)


@triton.jit(do_not_specialize=["k"])
def back_kernel(u_ptr, x_ptr, N, W, k, x_row, x_col, BLOCK: tl.constexpr, ROWS: tl.constexpr, COLS: tl.constexpr):
    """Rows k to k + BLOCK of X with U X = Y, for COLS of the columns of Y, and ROWS rows of Y above less their part."""
    q = tl.program_id(0) * COLS + tl.arange(0, COLS)[None, :]
    i = tl.arange(0, BLOCK)
    width = tl.minimum(BLOCK, N - k)
    at = (k + i).to(tl.int64)[:, None]
    known = (i < width)[:, None] & (N + q < W)
    x = tl.load(u_ptr + at * W + N + q, mask=known, other=0.0)
    for step in range(0, width):
        c = width - 1 - step
        column = tl.load(u_ptr + (k + i).to(tl.int64) * W + k + c, mask=i <= c, other=0.0)
        pivot = tl.sum(tl.where(i == c, column, 0.0), axis=0)
        here = (i == c)[:, None]
        value = tl.sum(tl.where(here, x, 0.0), axis=0)[None, :] / tl.where(pivot == 0.0, 1.0, pivot)
        x = tl.where(here, value, x - tl.where(i < c, column, 0.0)[:, None] * value)
    tl.store(x_ptr + at * x_row + q * x_col, x, mask=known & (tl.program_id(1) == 0))
    r = (tl.program_id(1) * ROWS + tl.arange(0, ROWS)).to(tl.int64)[:, None]
    part = tl.load(u_ptr + r * W + k + i[None, :], mask=(r < k) & (i < width)[None, :], other=0.0)
    mask = (r < k) & (N + q < W)
    y = tl.load(u_ptr + r * W + N + q, mask=mask, other=0.0)
    y -= tl.dot(part, x, input_precision="ieee", out_dtype=y.dtype)
    tl.store(u_ptr + r * W + N + q, y, mask=mask)


def update(a, u, order, k, width, end):
    N, W = a.shape
    if k + width < end:
        grid = (triton.cdiv(end - k - width, 64), max(1, triton.cdiv(N - k - width, 256)))
        update_kernel[grid](a, u, order, N, W, k, width, end, PANEL=max(16, triton.next_power_of_2(width)),
                            STEP=256, ROWS=64, COLS=64, num_warps=8)


def eliminate(a):
    """U [N, W] of `a` [N, W], which is overwritten, and the numbers of pivots that are 0, one for each panel.

    A panel of a large matrix takes all registers of a program: the taller, the narrower. The rest of 32 columns is
    brought up to date after each panel, the rest of the matrix after 32 columns.
    """
    N, W = a.shape
    u = torch.empty_like(a)
    order = torch.arange(N, dtype=torch.int32, device=a.device)
    failed = torch.zeros(N, dtype=torch.int32, device=a.device)
    step = 64 if N <= 64 else 32
    for start in range(0, N, step):
        k, end = start, min(start + step, N)
        while k < end:
            rows = triton.next_power_of_2(N - k)
            panel = triton.next_power_of_2(N) if N <= 64 else max(4, min(16, 65536 // (a.element_size() * rows)))
            width = min(panel, end - k)
            panel_kernel[(1,)](a, u, order, failed, N, W, k, width, 1, COLS=panel, ROWS=rows,
                               num_warps=min(16, max(1, rows * panel // 512)))
            update(a, u, order, k, width, end)
            k += width
        update(a, u, order, start, end - start, W)
    return u, failed


def fused_lu_solve(A, b):
    N = A.shape[0]
    x = torch.empty(N, dtype=A.dtype, device=A.device)
    if N == 0:
        return x
    a = torch.empty((N, N + 1), dtype=A.dtype, device=A.device)
    a[:, :N].copy_(A)
    a[:, N].copy_(b)
    u, failed = eliminate(a)
    if failed.any():
        raise torch.linalg.LinAlgError("the solver failed because the input matrix is singular")
    block = 64 if N <= 64 else 32
    for k in range((N - 1) // block * block, -1, -block):
        grid = (1, max(1, triton.cdiv(k, 64)))
        back_kernel[grid](u, x, N, N + 1, k, 1, 1, BLOCK=block, ROWS=64, COLS=16, num_warps=4)
    return x
