"""Solution of A x = b by an LDL factorisation that takes b along: it is written below A, as K more rows.

Rows and columns are exchanged on paper alone: place[i] is where row i of A stands. A panel is one program's: the
columns of L and L D so far are in registers, and a column of the matrix is brought up to date when its turn comes, or
when it may give the pivot (Bunch and Kaufman). Then the lower half of the matrix loses the product of both. The rows of
b become those of y with L D y = b, all transposed; what is left is L^T x = y, from the last block of unknowns to the
first. Complex numbers are pairs of real ones.
"""

import torch
import triton
import triton.language as tl

ALPHA = tl.constexpr((1 + 17**0.5) / 8)  # the least growth of elements (Bunch and Kaufman, 1977)


@triton.jit
def product(a, a_imag, b, b_imag, IS_COMPLEX: tl.constexpr):
    real, imag = a * b, a_imag
    if IS_COMPLEX:
        real, imag = a * b - a_imag * b_imag, a * b_imag + a_imag * b
    return real, imag


@triton.jit
def quotient(a, a_imag, b, b_imag, IS_COMPLEX: tl.constexpr):
    """a / b, and a where b is 0."""
    size = magnitude(b, b_imag, IS_COMPLEX)
    zero = size == 0.0
    if IS_COMPLEX:
        size = tl.where(zero, 1.0, size)
        b, b_imag = tl.where(zero, 1.0, b / size), b_imag / size
        square = (b * b + b_imag * b_imag) * size
        real, imag = product(a, a_imag, b, -b_imag, IS_COMPLEX)
        real, imag = real / square, imag / square
    else:
        real, imag = a / tl.where(zero, 1.0, b), a_imag
    return real, imag


@triton.jit
def magnitude(a, a_imag, IS_COMPLEX: tl.constexpr):
    size = tl.abs(a)
    if IS_COMPLEX:
        size += tl.abs(a_imag)
    return size


@triton.jit
def at(a, a_imag, here, IS_COMPLEX: tl.constexpr):
    """The element of each row of a where `here` is."""
    real = tl.sum(tl.where(here, a, 0.0), axis=1)[:, None]
    imag = real
    if IS_COMPLEX:
        imag = tl.sum(tl.where(here, a_imag, 0.0), axis=1)[:, None]
    return real, imag


@triton.jit
def current(w_ptr, mask, c, row, w_row, w_col, left, left_imag, right, right_imag,
            IS_COMPLEX: tl.constexpr, HERMITIAN: tl.constexpr):
    """Column c of the matrix, of whose lower half w is all but the product of the panel's columns so far."""
    low = tl.maximum(row, c).to(tl.int64)
    w_ptr += low * w_row + tl.minimum(row, c).to(tl.int64) * w_col
    x = tl.load(w_ptr, mask=mask, other=0.0)
    here = (row == c)[:, None, :]
    y = tl.sum(tl.where(here, right, 0.0), axis=2)[:, :, None]
    x_imag = x
    if IS_COMPLEX:
        x_imag = tl.load(w_ptr + 1, mask=mask, other=0.0)
        y_imag = tl.sum(tl.where(here, right_imag, 0.0), axis=2)[:, :, None]
        if HERMITIAN:
            x_imag = tl.where(row < c, -x_imag, x_imag)
            y_imag = -y_imag
        x_imag -= tl.sum(left * y_imag + left_imag * y, axis=1)
        x -= tl.sum(left * y - left_imag * y_imag, axis=1)
        x, x_imag = tl.where(mask, x, 0.0), tl.where(mask, x_imag, 0.0)
        if HERMITIAN:
            x_imag = tl.where(row == c, 0.0, x_imag)
    else:
        x = tl.where(mask, x - tl.sum(left * y, axis=1), 0.0)
    return x, x_imag


@triton.jit
def panel_kernel(w_ptr, l_ptr, place_ptr, done_ptr, left_ptr, right_ptr, MATRICES, N, M,
                 w_batch, w_row, w_col, IS_COMPLEX: tl.constexpr, HERMITIAN: tl.constexpr,
                 MORE: tl.constexpr, GROUP: tl.constexpr, SLOTS: tl.constexpr, ROWS: tl.constexpr):
    """Up to SLOTS more columns of L in left, and of L D in right: the next block of D may not be split."""
    matrix = tl.program_id(0).to(tl.int64) * GROUP + tl.arange(0, GROUP)[:, None]
    row = tl.arange(0, ROWS)[None, :]
    slot = tl.arange(0, SLOTS)[None, :, None]
    valid = matrix < MATRICES
    w_ptr += matrix * w_batch
    step: tl.constexpr = 2 if IS_COMPLEX else 1
    k = tl.load(done_ptr + matrix, mask=valid, other=0x7FFFFFFF)
    place = tl.load(place_ptr + matrix * M + row, mask=valid & (row < M), other=-1)
    left = tl.zeros((GROUP, SLOTS, ROWS), w_ptr.dtype.element_ty)
    left_imag, right, right_imag = left, left, left
    used = tl.zeros((GROUP, 1), tl.int32)
    working = 1
    while working > 0:
        go = (k < N) & (used + 1 < SLOTS)
        alive = go & (place >= k)
        here = alive & (place == k)
        first = tl.sum(tl.where(here, row, 0), axis=1)[:, None]
        u, u_imag = current(w_ptr, alive, first, row, w_row, w_col, left, left_imag, right, right_imag,
                            IS_COMPLEX, HERMITIAN)
        size = magnitude(u, u_imag, IS_COMPLEX)
        others = tl.where(alive & (row < N) & (place != k), size, -1.0)
        largest = tl.maximum(tl.max(others, axis=1), 0.0)[:, None]
        second = tl.argmax(others, axis=1)[:, None]
        there = alive & (row == second) & (place != k)
        v, v_imag = current(w_ptr, alive, second, row, w_row, w_col, left, left_imag, right, right_imag,
                            IS_COMPLEX, HERMITIAN)
        own, _ = at(size, size, here, False)
        size = magnitude(v, v_imag, IS_COMPLEX)
        other, _ = at(size, size, there, False)
        beside = tl.max(tl.where((row < N) & (row != second), size, 0.0), axis=1)[:, None]
        keep = own >= ALPHA * largest * tl.minimum(largest / tl.where(beside > 0.0, beside, 1.0), 1.0)
        double = (~keep) & (other < ALPHA * beside)
        swap = (~keep) & (~double)

        d, d_imag = at(u, u_imag, here, IS_COMPLEX)
        e, e_imag = at(u, u_imag, there, IS_COMPLEX)
        f, f_imag = at(v, v_imag, there, IS_COMPLEX)
        d, d_imag = tl.where(swap, f, d), tl.where(swap, f_imag, d_imag)
        u, u_imag = tl.where(swap, v, u), tl.where(swap, v_imag, u_imag)
        one, one_imag = quotient(u, u_imag, d, d_imag, IS_COMPLEX)
        # (l1 l2) ((d, e'), (e, f)) = (u v), with all divided by the size of e, since its square may overflow.
        scale = tl.where(double, magnitude(e, e_imag, IS_COMPLEX), 1.0)
        p, p_imag, q, q_imag = d / scale, d_imag / scale, f / scale, f_imag / scale
        x, x_imag, y, y_imag = u / scale, u_imag / scale, v / scale, v_imag / scale
        s, s_imag = e / scale, e_imag / scale
        z, z_imag = s, s_imag
        if HERMITIAN:
            z_imag = -s_imag
        g, g_imag = product(p, p_imag, q, q_imag, IS_COMPLEX)
        h, h_imag = product(s, s_imag, z, z_imag, IS_COMPLEX)
        det, det_imag = g - h, g_imag - h_imag
        g, g_imag = product(x, x_imag, q, q_imag, IS_COMPLEX)
        h, h_imag = product(y, y_imag, s, s_imag, IS_COMPLEX)
        l1, l1_imag = quotient(g - h, g_imag - h_imag, det, det_imag, IS_COMPLEX)
        g, g_imag = product(y, y_imag, p, p_imag, IS_COMPLEX)
        h, h_imag = product(x, x_imag, z, z_imag, IS_COMPLEX)
        l2, l2_imag = quotient(g - h, g_imag - h_imag, det, det_imag, IS_COMPLEX)

        wide = tl.where(double, 1, 0)
        to = k + wide
        mover = (here & keep) | (there & (~keep))
        old = tl.sum(tl.where(mover, place, 0), axis=1)[:, None]
        place = tl.where(mover, to, tl.where(go & (place == to), old, place))
        rest = alive & (place > to)
        l1 = tl.where(rest, tl.where(double, l1, one), 0.0)
        l2 = tl.where(rest & double, l2, 0.0)
        now, then = slot == used[:, :, None], double[:, :, None] & (slot == used[:, :, None] + 1)
        now = now & go[:, :, None]
        then = then & go[:, :, None]
        left = tl.where(now, l1[:, None, :], tl.where(then, l2[:, None, :], left))
        right = tl.where(now, u[:, None, :], tl.where(then, v[:, None, :], right))
        if IS_COMPLEX:
            l1_imag = tl.where(rest, tl.where(double, l1_imag, one_imag), 0.0)
            l2_imag = tl.where(rest & double, l2_imag, 0.0)
            left_imag = tl.where(now, l1_imag[:, None, :], tl.where(then, l2_imag[:, None, :], left_imag))
            right_imag = tl.where(now, u_imag[:, None, :], tl.where(then, v_imag[:, None, :], right_imag))
        column = k.to(tl.int64) * M + row  # of l, by the rows of A: [N, M]
        kept = go & (row < M)
        tl.store(l_ptr + column * step, l1, mask=kept)
        tl.store(l_ptr + (column + M) * step, l2, mask=kept & double)
        if IS_COMPLEX:
            tl.store(l_ptr + column * step + 1, l1_imag, mask=kept)
            tl.store(l_ptr + (column + M) * step + 1, l2_imag, mask=kept & double)
        k += tl.where(go, 1 + wide, 0)
        used += tl.where(go, 1 + wide, 0)
        working = tl.max(tl.max(((k < N) & (used + 1 < SLOTS)).to(tl.int32), axis=1), axis=0)
    tl.debug_barrier()
    tl.store(place_ptr + matrix * M + row, place, mask=valid & (row < M))
    if MORE:
        tl.store(done_ptr + matrix, k, mask=valid)
        to_row = ((matrix * M + row) * SLOTS)[:, None, :] + slot
        mask = (valid & (row < M))[:, None, :] & (slot >= 0)
        tl.store(left_ptr + to_row * step, left, mask=mask)
        tl.store(right_ptr + to_row * step, right, mask=mask)
        if IS_COMPLEX:
            tl.store(left_ptr + to_row * step + 1, left_imag, mask=mask)
            tl.store(right_ptr + to_row * step + 1, right_imag, mask=mask)


@triton.jit
def update_kernel(w_ptr, left_ptr, right_ptr, M, IS_COMPLEX: tl.constexpr, HERMITIAN: tl.constexpr,
                  SLOTS: tl.constexpr, DEPTH: tl.constexpr, TILE: tl.constexpr):
    """A tile of the lower half of w [matrices, M, M], less the product of a panel."""
    if tl.program_id(1) >= tl.program_id(2):
        matrix = tl.program_id(0).to(tl.int64)
        r = (tl.program_id(1) * TILE + tl.arange(0, TILE)).to(tl.int64)[:, None]
        c = (tl.program_id(2) * TILE + tl.arange(0, TILE)).to(tl.int64)[None, :]
        s = tl.arange(0, DEPTH)
        step: tl.constexpr = 2 if IS_COMPLEX else 1
        x_ptr = left_ptr + ((matrix * M + r) * SLOTS + s[None, :]) * step
        y_ptr = right_ptr + ((matrix * M + c) * SLOTS + s[:, None]) * step
        at_ptr = w_ptr + ((matrix * M + r) * M + c) * step
        x_mask, y_mask, mask = (r < M) & (s < SLOTS)[None, :], (c < M) & (s < SLOTS)[:, None], (r < M) & (c < M)
        x = tl.load(x_ptr, mask=x_mask, other=0.0)
        y = tl.load(y_ptr, mask=y_mask, other=0.0)
        w = tl.load(at_ptr, mask=mask, other=0.0)
        if IS_COMPLEX:
            x_imag = tl.load(x_ptr + 1, mask=x_mask, other=0.0)
            y_imag = tl.load(y_ptr + 1, mask=y_mask, other=0.0)
            if HERMITIAN:
                y_imag = -y_imag
            w_imag = tl.load(at_ptr + 1, mask=mask, other=0.0)
            w_imag -= tl.dot(x, y_imag, input_precision="ieee", out_dtype=w.dtype)
            w_imag -= tl.dot(x_imag, y, input_precision="ieee", out_dtype=w.dtype)
            w += tl.dot(x_imag, y_imag, input_precision="ieee", out_dtype=w.dtype)
            tl.store(at_ptr + 1, w_imag, mask=mask)
        tl.store(at_ptr, w - tl.dot(x, y, input_precision="ieee", out_dtype=w.dtype), mask=mask)


@triton.jit
def order_kernel(place_ptr, order_ptr, N, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(order_ptr + tl.load(place_ptr + i, mask=i < N, other=0), i, mask=i < N)


@triton.jit
def back_kernel(l_ptr, order_ptr, x_ptr, N, M, k, x_row, x_col, IS_COMPLEX: tl.constexpr, HERMITIAN: tl.constexpr,
                RIGHT: tl.constexpr, BLOCK: tl.constexpr, ROWS: tl.constexpr):
    """Solve for unknowns k to k + BLOCK, and take them from the last columns of l [N, M], where y is, row by row.

    If HERMITIAN, what is there is the conjugate of y, and gives that of x.
    """
    step: tl.constexpr = 2 if IS_COMPLEX else 1
    q = (N + tl.program_id(0) * RIGHT + tl.arange(0, RIGHT))[None, :]
    i = tl.arange(0, BLOCK)
    row = (k + i).to(tl.int64)
    order = tl.load(order_ptr + row, mask=row < N, other=0).to(tl.int64)
    mask = (row < N)[:, None] & (q < M)
    at = (row[:, None] * M + q) * step
    x = tl.load(l_ptr + at, mask=mask, other=0.0)
    x_imag = x
    if IS_COMPLEX:
        x_imag = tl.load(l_ptr + at + 1, mask=mask, other=0.0)
    width = tl.minimum(BLOCK, N - k)
    for back in range(0, width):
        c = width - 1 - back
        source = tl.load(order_ptr + k + c)
        here = (i == c)[:, None]
        factor = tl.load(l_ptr + (row * M + source) * step, mask=i < c, other=0.0)[:, None]
        known = tl.sum(tl.where(here, x, 0.0), axis=0)[None, :]
        if IS_COMPLEX:
            factor_imag = tl.load(l_ptr + (row * M + source) * step + 1, mask=i < c, other=0.0)[:, None]
            known_imag = tl.sum(tl.where(here, x_imag, 0.0), axis=0)[None, :]
            x += factor_imag * known_imag
            x_imag -= factor * known_imag + factor_imag * known
        x -= factor * known
    first = tl.program_id(1) == 0
    to = x_ptr + order[:, None] * x_row + (q - N) * x_col
    tl.store(to, x, mask=mask & first)
    if IS_COMPLEX:
        tl.store(to + 1, -x_imag if HERMITIAN else x_imag, mask=mask & first)
    r = (tl.program_id(1) * ROWS + tl.arange(0, ROWS)).to(tl.int64)[:, None]
    part_ptr = l_ptr + (r * M + order[None, :]) * step
    part_mask = (r < k) & (row < N)[None, :]
    rest_ptr = l_ptr + (r * M + q) * step
    rest_mask = (r < k) & (q < M)
    part = tl.load(part_ptr, mask=part_mask, other=0.0)
    rest = tl.load(rest_ptr, mask=rest_mask, other=0.0)
    if IS_COMPLEX:
        part_imag = tl.load(part_ptr + 1, mask=part_mask, other=0.0)
        rest_imag = tl.load(rest_ptr + 1, mask=rest_mask, other=0.0)
        rest_imag -= tl.dot(part, x_imag, input_precision="ieee") + tl.dot(part_imag, x, input_precision="ieee")
        rest += tl.dot(part_imag, x_imag, input_precision="ieee")
        tl.store(rest_ptr + 1, rest_imag, mask=rest_mask)
    tl.store(rest_ptr, rest - tl.dot(part, x, input_precision="ieee"), mask=rest_mask)


def reals(x):
    return torch.view_as_real(x) if x.is_complex() else x


def factorise(w, N, hermitian):
    """L [N, M], by its columns and by the rows of `w` [M, M], which is overwritten, and the places of these rows."""
    M = w.shape[0]
    rows = triton.next_power_of_2(M)
    more = N > 63
    slots = max(4, min(16, 65536 // (w.element_size() * rows))) if more else triton.next_power_of_2(N + 1)
    place = torch.arange(M, dtype=torch.int32, device=w.device)
    done = torch.zeros(1, dtype=torch.int32, device=w.device)
    factor = torch.empty((N, M), dtype=w.dtype, device=w.device)
    left, right = (torch.empty((M, slots), dtype=w.dtype, device=w.device) for _ in range(2))
    flags = dict(IS_COMPLEX=w.is_complex(), HERMITIAN=hermitian and w.is_complex())
    w, lower, left, right = (reals(x) for x in (w, factor, left, right))
    panels, tiles = triton.cdiv(N, slots - 1), triton.cdiv(M, 32)
    for panel in range(panels):
        panel_kernel[(1,)](w, lower, place, done, left, right, 1, N, M, 0, w.stride(0), w.stride(1), **flags,
                           MORE=more, GROUP=1, SLOTS=slots, ROWS=rows, num_warps=min(16, max(1, slots * rows // 512)))
        if panel < panels - 1:
            update_kernel[(1, tiles, tiles)](w, left, right, M, **flags, SLOTS=slots, DEPTH=max(16, slots), TILE=32)
    return lower, place, flags


def solve_symmetric_ldl(A, b, hermitian=False, out=None):
    N = A.shape[0]
    result = torch.empty(b.shape, dtype=b.dtype, device=b.device)
    if result.numel():
        x = result.view(N, -1)
        K = x.shape[1]
        w = torch.empty((N + K, N + K), dtype=A.dtype, device=A.device)
        w[:N, :N].copy_(A)
        w[N:, :N].copy_(b.reshape(N, K).mH if hermitian else b.reshape(N, K).mT)
        lower, place, flags = factorise(w, N, hermitian)
        order = torch.empty(N, dtype=torch.int32, device=A.device)
        order_kernel[(triton.cdiv(N, 1024),)](place, order, N, BLOCK=1024)
        to = reals(x)
        for k in range((N - 1) // 32 * 32, -1, -32):
            back_kernel[(triton.cdiv(K, 16), max(1, triton.cdiv(k, 32)))](
                lower, order, to, N, N + K, k, to.stride(0), to.stride(1), **flags, RIGHT=16, BLOCK=32, ROWS=32)
    return result if out is None else out.copy_(result)
