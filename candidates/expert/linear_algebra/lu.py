"""LU factorisation with partial pivoting by panels of columns.

Rows are exchanged on paper alone: order[i] is the row of A that stands at place i. A panel of some columns of all rows
that are left is factorised in registers, by one program; its rows of U and the rest of the matrix, less the product of
both, are the work of many. Small matrices are one panel, and several of them share a program.
"""

import torch
import triton
import triton.language as tl


@triton.jit(do_not_specialize=["k", "width", "one"])
def panel_kernel(a_ptr, u_ptr, order_ptr, MATRICES, M, N, K, k, width, one, PIVOT: tl.constexpr,
                 GROUP: tl.constexpr, COLS: tl.constexpr, ROWS: tl.constexpr):
    """Factorise columns k to k + width of the rows that are left: L into a, where they stand, and U into u, in order.

    `one`, the distance of columns, is not known to the compiler: so it gives every thread whole rows of the panel,
    which costs some loads, and saves exchanges between threads in the loop.
    """
    matrix = tl.program_id(0).to(tl.int64) * GROUP + tl.arange(0, GROUP)[:, None]
    row = tl.arange(0, ROWS)[None, :]
    col = tl.arange(0, COLS)[None, :, None]
    place = tl.zeros((GROUP, ROWS), tl.int32) + row + k
    inside = (matrix < MATRICES) & (place < M)
    mask = inside[:, None, :] & (col < width)
    origin_ptr = order_ptr + matrix * M + place
    origin = tl.load(origin_ptr, mask=inside, other=0)
    a = tl.load(a_ptr + ((matrix * M + origin) * N)[:, None, :] + (k + col) * one, mask=mask, other=0.0)
    for j in range(0, width):
        column = tl.sum(tl.where(col == j, a, 0.0), axis=1)
        if PIVOT:
            size = tl.where(inside & (place >= k + j), tl.abs(column), -1.0)
            chosen = row == tl.argmax(size, axis=1)[:, None]
            old = tl.sum(tl.where(chosen, place, 0), axis=1)[:, None]
            place = tl.where(chosen, k + j, tl.where(place == k + j, old, place))
        else:
            chosen = place == k + j
        pivots = tl.sum(tl.where(chosen[:, None, :], a, 0.0), axis=2)[:, :, None]
        pivot = tl.sum(tl.where(chosen, column, 0.0), axis=1)[:, None]
        below = inside & (place > k + j)
        factor = tl.where(below, column / tl.where(pivot == 0.0, 1.0, pivot), 0.0)[:, None, :]
        a = tl.where((col == j) & below[:, None, :], factor, a - factor * tl.where(col > j, pivots, 0.0))
    origin = tl.load(origin_ptr, mask=inside, other=0)  # again: to keep it would take registers in the loop
    tl.debug_barrier()
    tl.store(a_ptr + ((matrix * M + origin) * N)[:, None, :] + (k + col) * one, a, mask=mask)
    tl.store(order_ptr + matrix * M + place, origin, mask=inside)
    in_u = mask & (place[:, None, :] <= k + col)
    tl.store(u_ptr + ((matrix * K + place) * N)[:, None, :] + (k + col) * one, a, mask=in_u)


@triton.jit(do_not_specialize=["k", "width", "end"])
def update_kernel(a_ptr, u_ptr, order_ptr, M, N, K, k, width, end,
                  PANEL: tl.constexpr, STEP: tl.constexpr, ROWS: tl.constexpr, COLS: tl.constexpr):
    """Columns up to `end` beside a panel: rows of U by forward substitution, and STEP rows below less L times these."""
    matrix = tl.program_id(0).to(tl.int64)
    a_ptr += matrix * M * N
    order_ptr += matrix * M
    c = k + width + tl.program_id(1) * COLS + tl.arange(0, COLS)[None, :]
    p = tl.arange(0, PANEL)
    origin = tl.load(order_ptr + k + p, mask=p < width, other=0).to(tl.int64)
    known = (p < width)[:, None] & (c < end)
    u = tl.load(a_ptr + origin[:, None] * N + c, mask=known, other=0.0)
    for j in range(0, width):
        multiplier = tl.load(a_ptr + origin * N + k + j, mask=(p > j) & (p < width), other=0.0)
        u -= multiplier[:, None] * tl.sum(tl.where(p[:, None] == j, u, 0.0), axis=0)[None, :]
    if tl.program_id(2) == 0:
        tl.store(u_ptr + (matrix * K + k + p)[:, None] * N + c, u, mask=known)
    first = k + width + tl.program_id(2) * STEP
    last = tl.minimum(first + STEP, M)
    for start in range(first, last, ROWS):
        r = start + tl.arange(0, ROWS)
        row_ptr = a_ptr + tl.load(order_ptr + r, mask=r < last, other=0).to(tl.int64)[:, None] * N
        low = tl.load(row_ptr + k + p[None, :], mask=(r < last)[:, None] & (p < width)[None, :], other=0.0)
        at = row_ptr + c
        mask = (r < last)[:, None] & (c < end)
        a = tl.load(at, mask=mask, other=0.0)
        tl.store(at, a - tl.dot(low, u, input_precision="ieee", out_dtype=a.dtype), mask=mask)


@triton.jit
def finish_kernel(a_ptr, u_ptr, order_ptr, p_ptr, low_ptr, M, N, K, PIVOT: tl.constexpr, BLOCK: tl.constexpr):
    """P and L from order and a, and zeros into the lower half of u."""
    matrix = tl.program_id(0).to(tl.int64)
    r = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    origin = tl.load(order_ptr + matrix * M + r, mask=r < M, other=0).to(tl.int64)[:, None]
    r = r[:, None]
    for start in range(0, tl.maximum(M, N), BLOCK):
        c = start + tl.arange(0, BLOCK)[None, :]
        low = tl.load(a_ptr + (matrix * M + origin) * N + c, mask=(r < M) & (c < K) & (c < r), other=0.0)
        tl.store(low_ptr + (matrix * M + r) * K + c, tl.where(r == c, 1.0, low), mask=(r < M) & (c < K))
        tl.store(u_ptr + (matrix * K + r) * N + c, tl.zeros_like(low), mask=(r < K) & (c < r) & (c < N))
        if PIVOT:
            row = tl.load(order_ptr + matrix * M + c, mask=c < M, other=-1)
            tl.store(p_ptr + (matrix * M + r) * M + c, (row == r).to(low.dtype), mask=(r < M) & (c < M))


def factorise(a, u, order, pivot):
    """`a` [matrices, M, N] in place, `u` [matrices, K, N] and `order` [matrices, M] as the kernels have them.

    A panel of a large matrix takes all registers of a program: the taller, the narrower. The rest of 32 columns is
    brought up to date after each panel, the rest of the matrix after 32 columns.
    """
    matrices, M, N = a.shape
    K = u.shape[1]
    whole = triton.next_power_of_2(K)
    small = whole * triton.next_power_of_2(M) <= 4096
    most = 4096 if matrices <= 64 else 1024  # of many small matrices each has a warp of its own
    for start in range(0, K, whole if small else 32):
        k, end = start, K if small else min(start + 32, K)
        while k < end:
            rows = triton.next_power_of_2(M - k)
            panel = whole if small else max(4, min(16, 65536 // (a.element_size() * rows)))
            group = min(triton.next_power_of_2(matrices), max(1, most // (rows * panel)))
            width = min(panel, end - k)
            panel_kernel[(triton.cdiv(matrices, group),)](
                a, u, order, matrices, M, N, K, k, width, 1, PIVOT=pivot, GROUP=group, COLS=panel, ROWS=rows,
                num_warps=min(16, max(1, group * rows * panel // (1024 if small else 512))))
            update(a, u, order, k, width, end)
            k += width
        update(a, u, order, start, end - start, N)


def update(a, u, order, k, width, end):
    matrices, M, N = a.shape
    columns = end - k - width
    if columns:
        grid = (matrices, triton.cdiv(columns, 64), max(1, triton.cdiv(M - k - width, 256)))
        update_kernel[grid](a, u, order, M, N, u.shape[1], k, width, end, PANEL=max(16, triton.next_power_of_2(width)),
                            STEP=256, ROWS=64, COLS=64, num_warps=8)


def lu(A, pivot=True, out=None):
    *batch, M, N = A.shape
    K = min(M, N)
    P = torch.empty((*batch, M, M) if pivot else (0,), dtype=A.dtype, device=A.device)
    L = torch.empty((*batch, M, K), dtype=A.dtype, device=A.device)
    U = torch.empty((*batch, K, N), dtype=A.dtype, device=A.device)
    matrices = 1
    for n in batch:
        matrices *= n
    if matrices and M:
        a = torch.empty((matrices, M, N), dtype=A.dtype, device=A.device)
        a.view(A.shape).copy_(A)
        order = torch.arange(M, dtype=torch.int32, device=A.device).repeat(matrices, 1)
        if K:
            factorise(a, U.view(matrices, K, N), order, pivot)
            grid = (matrices, triton.cdiv(M, 64))
            finish_kernel[grid](a, U, order, P, L, M, N, K, PIVOT=pivot, BLOCK=64, num_warps=8)
        elif pivot:
            P.copy_(torch.eye(M, dtype=A.dtype, device=A.device))
    if out is None:
        return P, L, U
    for tensor, result in zip(out, (P, L, U), strict=True):
        tensor.copy_(result)
    return out
