"""Determinants by LU factorisation, with partial pivoting or without: the product of the pivots, with a sign.

Rows are exchanged on paper alone: order[i] is the row of A that stands at place i. A panel of some columns of all rows
that are left is factorised in registers, by one program; the rest of the matrix, less the product of the panel and its
rows of U, is the work of many. Small matrices are one panel, and several of them share a program. The product is kept
as a mantissa and an exponent, since a part of it may be out of range where the whole is not.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def normalised(mantissa, exponent):
    """A float64 and an exponent of 2 with the same product, the float64 being 0, not finite or of magnitude [1, 2)."""
    bits = mantissa.to(tl.int64, bitcast=True)
    power = (bits >> 52) & 0x7FF
    usual = (power > 0) & (power < 0x7FF)
    scaled = ((bits ^ (power << 52)) | 0x3FF0000000000000).to(tl.float64, bitcast=True)
    return tl.where(usual, scaled, mantissa), tl.where(usual, exponent + power.to(tl.int32) - 1023, exponent)


@triton.jit
def power_of_two(exponent):
    return ((tl.minimum(tl.maximum(exponent, -1022), 1023) + 1023).to(tl.int64) << 52).to(tl.float64, bitcast=True)


@triton.jit(do_not_specialize=["k", "width", "one"])
def panel_kernel(src_ptr, a_ptr, order_ptr, mantissa_ptr, exponent_ptr, det_ptr, MATRICES, N, k, width, one,
                 src_batch, src_row, SINGLE: tl.constexpr, PIVOT: tl.constexpr,
                 GROUP: tl.constexpr, COLS: tl.constexpr, ROWS: tl.constexpr):
    """Factorise columns k to k + width of the rows that are left, in a, and multiply the determinant by their pivots.

    `one`, the distance of columns, is not known to the compiler: so it gives every thread whole rows of the panel,
    which costs some loads, and saves exchanges between threads in the loop.
    """
    matrix = tl.program_id(0).to(tl.int64) * GROUP + tl.arange(0, GROUP)[:, None]
    row = tl.arange(0, ROWS)[None, :]
    col = tl.arange(0, COLS)[None, :, None]
    place = tl.zeros((GROUP, ROWS), tl.int32) + row + k
    inside = (matrix < MATRICES) & (place < N)
    mask = inside[:, None, :] & (col < width)
    origin = place
    mantissa = tl.full((GROUP, 1), 1.0, tl.float64)
    exponent = tl.zeros((GROUP, 1), tl.int32)
    if not SINGLE:
        origin = tl.load(order_ptr + matrix * N + place, mask=inside, other=0)
        mantissa = tl.load(mantissa_ptr + matrix, mask=matrix < MATRICES, other=1.0)
        exponent = tl.load(exponent_ptr + matrix, mask=matrix < MATRICES, other=0)
    line_ptr = src_ptr + (matrix * src_batch + origin.to(tl.int64) * src_row)[:, None, :]
    a = tl.load(line_ptr + (k + col).to(tl.int64) * one, mask=mask, other=0.0)
    for j in range(0, width):
        column = tl.sum(tl.where(col == j, a, 0.0), axis=1)
        chosen = place == k + j
        if PIVOT:
            size = tl.where(inside & (place >= k + j), tl.abs(column), -1.0)
            chosen = row == tl.argmax(size, axis=1)[:, None]
            old = tl.sum(tl.where(chosen, place, 0), axis=1)[:, None]
            mantissa = tl.where(old == k + j, mantissa, -mantissa)
            place = tl.where(chosen, k + j, tl.where(place == k + j, old, place))
        pivots = tl.sum(tl.where(chosen[:, None, :], a, 0.0), axis=2)[:, :, None]
        pivot = tl.sum(tl.where(chosen, column, 0.0), axis=1)[:, None]
        mantissa, exponent = normalised(mantissa * pivot.to(tl.float64), exponent)
        below = inside & (place > k + j)
        factor = tl.where(below, column / tl.where(pivot == 0.0, 1.0, pivot), 0.0)[:, None, :]
        a = tl.where((col == j) & below[:, None, :], factor, a - factor * tl.where(col > j, pivots, 0.0))
    half = exponent // 2
    det = mantissa * power_of_two(half) * power_of_two(exponent - half)
    tl.store(det_ptr + matrix, det.to(det_ptr.dtype.element_ty), mask=matrix < MATRICES)
    if not SINGLE:
        tl.store(mantissa_ptr + matrix, mantissa, mask=matrix < MATRICES)
        tl.store(exponent_ptr + matrix, exponent, mask=matrix < MATRICES)
        tl.debug_barrier()
        origin = tl.load(order_ptr + matrix * N + row + k, mask=inside, other=0)
        tl.debug_barrier()
        tl.store(a_ptr + ((matrix * N + origin) * N)[:, None, :] + (k + col) * one, a, mask=mask)
        tl.store(order_ptr + matrix * N + place, origin, mask=inside)


@triton.jit(do_not_specialize=["k", "width", "end"])
def update_kernel(a_ptr, order_ptr, N, k, width, end,
                  PANEL: tl.constexpr, STEP: tl.constexpr, ROWS: tl.constexpr, COLS: tl.constexpr):
    """Columns up to `end` beside a panel: its rows of U by forward substitution, and STEP rows below less L times U."""
    matrix = tl.program_id(0).to(tl.int64)
    a_ptr += matrix * N * N
    order_ptr += matrix * N
    c = k + width + tl.program_id(1) * COLS + tl.arange(0, COLS)[None, :]
    p = tl.arange(0, PANEL)
    origin = tl.load(order_ptr + k + p, mask=p < width, other=0).to(tl.int64)
    u = tl.load(a_ptr + origin[:, None] * N + c, mask=(p < width)[:, None] & (c < end), other=0.0)
    for j in range(0, width):
        multiplier = tl.load(a_ptr + origin * N + k + j, mask=(p > j) & (p < width), other=0.0)
        u -= multiplier[:, None] * tl.sum(tl.where(p[:, None] == j, u, 0.0), axis=0)[None, :]
    first = k + width + tl.program_id(2) * STEP
    last = tl.minimum(first + STEP, N)
    for start in range(first, last, ROWS):
        r = start + tl.arange(0, ROWS)
        row_ptr = a_ptr + tl.load(order_ptr + r, mask=r < last, other=0).to(tl.int64)[:, None] * N
        low = tl.load(row_ptr + k + p[None, :], mask=(r < last)[:, None] & (p < width)[None, :], other=0.0)
        at = row_ptr + c
        mask = (r < last)[:, None] & (c < end)
        a = tl.load(at, mask=mask, other=0.0)
        tl.store(at, a - tl.dot(low, u, input_precision="ieee", out_dtype=a.dtype), mask=mask)


def small(a, det, pivot):
    """One panel for each of `a` [matrices, N, N], of any strides."""
    matrices, N, _ = a.shape
    side = triton.next_power_of_2(N)
    most = 4096 if matrices <= 64 else 1024  # of many matrices each has a warp of its own
    group = min(triton.next_power_of_2(matrices), max(1, most // (side * side)))
    panel_kernel[(triton.cdiv(matrices, group),)](
        a, a, a, a, a, det, matrices, N, 0, N, a.stride(2), a.stride(0), a.stride(1), SINGLE=True, PIVOT=pivot,
        GROUP=group, COLS=side, ROWS=side, num_warps=max(1, group * side * side // 1024))


def large(a, det, pivot):
    """`a` [matrices, N, N], contiguous, is overwritten.

    A panel takes all registers of a program: the taller, the narrower. The rest of 32 columns is brought up to date
    after each panel, the rest of the matrix after 32 columns.
    """
    matrices, N, _ = a.shape
    order = torch.arange(N, dtype=torch.int32, device=a.device).repeat(matrices, 1)
    mantissa = torch.ones(matrices, dtype=torch.float64, device=a.device)
    exponent = torch.zeros(matrices, dtype=torch.int32, device=a.device)
    for start in range(0, N, 32):
        k, end = start, min(start + 32, N)
        while k < end:
            rows = triton.next_power_of_2(N - k)
            panel = max(4, min(16, 65536 // (a.element_size() * rows)))
            group = min(triton.next_power_of_2(matrices), max(1, 4096 // (rows * panel)))
            width = min(panel, end - k)
            panel_kernel[(triton.cdiv(matrices, group),)](
                a, a, order, mantissa, exponent, det, matrices, N, k, width, 1, N * N, N, SINGLE=False, PIVOT=pivot,
                GROUP=group, COLS=panel, ROWS=rows, num_warps=min(16, max(1, group * rows * panel // 512)))
            update(a, order, k, width, end)
            k += width
        update(a, order, start, end - start, N)


def update(a, order, k, width, end):
    matrices, N, _ = a.shape
    if k + width < end and k + width < N:
        grid = (matrices, triton.cdiv(end - k - width, 64), triton.cdiv(N - k - width, 256))
        update_kernel[grid](a, order, N, k, width, end, PANEL=max(16, triton.next_power_of_2(width)),
                            STEP=256, ROWS=64, COLS=64, num_warps=8)


def determinant_lu(A, *, pivot=True, out=None):
    *batch, N, _ = A.shape
    result = torch.empty(batch, dtype=A.dtype, device=A.device)
    if N == 0:
        result.fill_(1.0)
    elif result.numel():
        if N <= 64:
            small(A.reshape(-1, N, N), result, pivot)
        else:
            large(torch.empty(A.shape, dtype=A.dtype, device=A.device).copy_(A).view(-1, N, N), result, pivot)
    return result if out is None else out.copy_(result)
