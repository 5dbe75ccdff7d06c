"""Singular value decomposition by one-sided Jacobi rotations, a program for one matrix or a few.

The matrix is taken so that it has at least as many rows as columns (transposed if need be). Rotations of pairs of
columns make all columns orthogonal to each other; their lengths are then the singular values, their directions the
left singular vectors, and the product of the rotations gives the right ones. The pairs follow a round-robin
tournament: in each of its rounds every column meets one other, so all pairs of a round are rotated at once. Vectors
that the matrix doesn't determine (full_matrices, rank deficiency) complete the basis in a second kernel.
"""

import torch
import triton
import triton.language as tl

SWEEPS = tl.constexpr(24)  # a bound: eight are enough for most matrices of 256 columns
TOLERANCE = tl.constexpr(2.0e-7)  # cosine of the angle between columns that count as orthogonal
TINY = tl.constexpr(1.0e-9)  # singular values below this part of the largest entry are taken for zero


@triton.jit
def prepare_kernel(a_ptr, work_ptr, scale_ptr, ROWS, COLS, stride_batch, stride_row, stride_col,
                   BLOCK_C: tl.constexpr, BLOCK_W: tl.constexpr):
    """work [batch, COLS, ROWS + COLS]: the columns of a, over its largest entry, beside those of the unit matrix."""
    batch = tl.program_id(0).to(tl.int64)
    width = ROWS + COLS
    work_ptr += batch * COLS * width
    a_ptr += batch * stride_batch
    at = tl.arange(0, BLOCK_W)[None, :]
    # Divided by its largest entry the matrix can be squared without overflow.
    largest = tl.zeros((BLOCK_C,), tl.float32)
    for first in range(0, COLS, BLOCK_C):
        j = first + tl.arange(0, BLOCK_C)[:, None]
        a = tl.load(a_ptr + at * stride_row + j * stride_col, mask=(j < COLS) & (at < ROWS), other=0.0)
        largest = tl.maximum(largest, tl.max(tl.abs(a), axis=1))
    scale = tl.max(largest, axis=0)
    tl.store(scale_ptr + batch, scale)
    divisor = tl.where(scale > 0.0, scale, 1.0)
    for first in range(0, COLS, BLOCK_C):
        j = first + tl.arange(0, BLOCK_C)[:, None]
        a = tl.load(a_ptr + at * stride_row + j * stride_col, mask=(j < COLS) & (at < ROWS), other=0.0)
        x = tl.where(at < ROWS, a / divisor, tl.where(at - ROWS == j, 1.0, 0.0))
        tl.store(work_ptr + j * width + at, x, mask=(j < COLS) & (at < width))


@triton.jit
def jacobi_kernel(work_ptr, square_ptr, MATRICES, ROWS, COLS, ROUNDS, PAIRS, GROUP,
                  BLOCK_P: tl.constexpr, BLOCK_W: tl.constexpr):
    """Rotate the columns of GROUP matrices of work until all are orthogonal; square [batch, COLS] is room for |a|^2."""
    first_matrix = tl.program_id(0).to(tl.int64) * GROUP
    width = ROWS + COLS
    work_ptr += first_matrix * COLS * width
    square_ptr += first_matrix * COLS
    matrices = tl.minimum(MATRICES - first_matrix, GROUP).to(tl.int32)
    at = tl.arange(0, BLOCK_W)[None, :]
    in_a = at < ROWS
    one = tl.full((BLOCK_P,), 1.0, tl.float32)
    sweep = 0
    rotations = 1
    while (sweep < SWEEPS) & (rotations > 0):
        for first in range(0, matrices * COLS, BLOCK_P):
            j = first + tl.arange(0, BLOCK_P)
            a = tl.load(work_ptr + j[:, None] * width + at, mask=(j[:, None] < matrices * COLS) & in_a, other=0.0)
            tl.store(square_ptr + j, tl.sum(a * a, axis=1), mask=j < matrices * COLS)
        tl.debug_barrier()
        rotated = tl.zeros((BLOCK_P,), tl.int32)
        for turn in range(0, ROUNDS):
            for first in range(0, matrices * PAIRS, BLOCK_P):
                i = first + tl.arange(0, BLOCK_P)
                pair = i % PAIRS
                start = i // PAIRS * COLS
                left = start + (turn + pair) % ROUNDS
                right = tl.where(pair == 0, ROUNDS, (turn + ROUNDS - pair) % ROUNDS)
                ok = (i < matrices * PAIRS) & (right < COLS)  # of an odd number of columns one has no partner
                right += start
                mask = ok[:, None] & (at < width)
                left_at = work_ptr + left[:, None] * width + at
                right_at = work_ptr + right[:, None] * width + at
                x = tl.load(left_at, mask=mask, other=0.0)
                y = tl.load(right_at, mask=mask, other=0.0)
                xx = tl.load(square_ptr + left, mask=ok, other=0.0)
                yy = tl.load(square_ptr + right, mask=ok, other=0.0)
                xy = tl.sum(tl.where(in_a, x * y, 0.0), axis=1)
                rotate = (tl.abs(xy) > TOLERANCE * tl.sqrt(xx * yy)) & (tl.minimum(xx, yy) > TINY * TINY)
                # The smaller root t of t^2 + 2 z t - 1 = 0 is the tangent of the angle that makes them orthogonal.
                z = (yy - xx) / tl.where(rotate, 2.0 * xy, 1.0)
                t = tl.where(z >= 0.0, 1.0, -1.0) / (tl.abs(z) + tl.sqrt(1.0 + z * z))
                t = tl.where(rotate, t, 0.0)
                cosine = tl.div_rn(one, tl.sqrt_rn(1.0 + t * t))
                sine = (cosine * t)[:, None]
                cosine = cosine[:, None]
                tl.store(left_at, cosine * x - sine * y, mask=mask)
                tl.store(right_at, sine * x + cosine * y, mask=mask)
                tl.store(square_ptr + left, xx - t * xy, mask=ok)
                tl.store(square_ptr + right, yy + t * xy, mask=ok)
                rotated |= rotate.to(tl.int32)
            tl.debug_barrier()
        rotations = tl.sum(rotated, axis=0)
        sweep += 1


@triton.jit
def sorted_kernel(work_ptr, scale_ptr, long_ptr, short_ptr, s_ptr, length_ptr, ROWS, COLS,
                  long_batch, long_vector, long_element, short_batch, short_vector, short_element,
                  BLOCK_C: tl.constexpr, BLOCK_W: tl.constexpr):
    """Singular values in descending order, and the two sets of singular vectors in the same order."""
    batch = tl.program_id(0).to(tl.int64)
    width = ROWS + COLS
    work_ptr += batch * COLS * width
    length_ptr += batch * COLS
    at = tl.arange(0, BLOCK_W)[None, :]
    scale = tl.load(scale_ptr + batch)
    for first in range(0, COLS, BLOCK_C):
        j = first + tl.arange(0, BLOCK_C)
        x = tl.load(work_ptr + j[:, None] * width + at, mask=(j[:, None] < COLS) & (at < width), other=0.0)
        a = tl.where(at < ROWS, x, 0.0)
        v = tl.where(at >= ROWS, x, 0.0)
        # Thousands of rotations change the lengths of the columns a little, those of both halves alike.
        length = tl.sqrt_rn(tl.sum(a * a, axis=1)) / tl.sqrt_rn(tl.where(j < COLS, tl.sum(v * v, axis=1), 1.0))
        tl.store(length_ptr + j, tl.where(length > TINY, length, 0.0), mask=j < COLS)
    tl.debug_barrier()
    for first in range(0, COLS, BLOCK_C):
        j = first + tl.arange(0, BLOCK_C)
        ok = j[:, None] < COLS
        length = tl.load(length_ptr + j, mask=j < COLS, other=0.0)
        rank = tl.zeros((BLOCK_C,), tl.int32)
        for start in range(0, COLS, BLOCK_W):
            i = start + at
            other = tl.load(length_ptr + i, mask=i < COLS, other=-1.0)
            before = (other > length[:, None]) | ((other == length[:, None]) & (i < j[:, None]))
            rank += tl.sum(before.to(tl.int32), axis=1)
        tl.store(s_ptr + batch * COLS + rank, length * scale, mask=j < COLS)
        x = tl.load(work_ptr + j[:, None] * width + at, mask=ok & (at < width), other=0.0)
        a = tl.where(at < ROWS, x, 0.0)
        v = tl.where(at >= ROWS, x, 0.0)
        a_length = tl.sqrt_rn(tl.sum(a * a, axis=1))
        v_length = tl.sqrt_rn(tl.sum(v * v, axis=1))
        a = a / tl.where(a_length > 0.0, a_length, 1.0)[:, None]
        v = v / tl.where(v_length > 0.0, v_length, 1.0)[:, None]
        a = tl.where(length[:, None] > 0.0, a, 0.0)  # left for the second kernel
        row = rank.to(tl.int64)[:, None]
        tl.store(long_ptr + batch * long_batch + row * long_vector + at * long_element, a, mask=ok & (at < ROWS))
        tl.store(short_ptr + batch * short_batch + row * short_vector + (at - ROWS) * short_element, v,
                 mask=ok & (at >= ROWS) & (at < width))


@triton.jit
def complete_kernel(long_ptr, s_ptr, ROWS, COLS, COUNT, stride_batch, stride_vector, stride_element,
                    BLOCK_V: tl.constexpr, BLOCK_R: tl.constexpr):
    """Replace those of the COUNT vectors of length ROWS that have no singular value by ones orthogonal to the others.

    Each starts as the unit vector that lies farthest outside the span of what is there, less its part in the span,
    twice for the sake of rounding.
    """
    batch = tl.program_id(0).to(tl.int64)
    long_ptr += batch * stride_batch
    e = tl.arange(0, BLOCK_R)
    at = e[None, :] * stride_element
    for first in range(COLS, COUNT, BLOCK_V):
        j = first + tl.arange(0, BLOCK_V)[:, None]
        zero = tl.zeros((BLOCK_V, BLOCK_R), tl.float32)
        tl.store(long_ptr + j * stride_vector + at, zero, mask=(j < COUNT) & (e[None, :] < ROWS))
    tl.debug_barrier()
    for new in range(0, COUNT):
        value = tl.load(s_ptr + batch * COLS + new, mask=new < COLS, other=0.0)
        if value == 0.0:
            inside = tl.zeros((BLOCK_R,), tl.float32)
            for first in range(0, COUNT, BLOCK_V):
                j = first + tl.arange(0, BLOCK_V)[:, None]
                u = tl.load(long_ptr + j * stride_vector + at, mask=(j < COUNT) & (e[None, :] < ROWS), other=0.0)
                inside += tl.sum(u * u, axis=0)
            best = tl.argmin(tl.where(e < ROWS, inside, float("inf")), axis=0)
            vector = tl.where(e == best, 1.0, 0.0)
            for _ in range(0, 2):
                part = tl.zeros((BLOCK_R,), tl.float32)
                for first in range(0, COUNT, BLOCK_V):
                    j = first + tl.arange(0, BLOCK_V)[:, None]
                    u = tl.load(long_ptr + j * stride_vector + at, mask=(j < COUNT) & (e[None, :] < ROWS), other=0.0)
                    part += tl.sum(u * tl.sum(u * vector[None, :], axis=1)[:, None], axis=0)
                vector -= part
                vector = vector / tl.sqrt_rn(tl.sum(vector * vector, axis=0))
            tl.store(long_ptr + new * stride_vector + e * stride_element, vector, mask=e < ROWS)
            tl.debug_barrier()


def svd(A, full_matrices=True):
    *batch, M, N = A.shape
    K = min(M, N)
    U = torch.empty((*batch, M, M if full_matrices else K), dtype=A.dtype, device=A.device)
    S = torch.empty((*batch, K), dtype=A.dtype, device=A.device)
    Vh = torch.empty((*batch, N if full_matrices else K, N), dtype=A.dtype, device=A.device)
    a, u, vh = (x.reshape(-1, x.shape[-2], x.shape[-1]) if x.numel() else x for x in (A, U, Vh))
    matrices = 1
    for n in batch:
        matrices *= n
    if matrices == 0:
        return U, S, Vh
    # "long" are the singular vectors with as many elements as the longer side of A.
    if M >= N:
        rows, cols, strides = M, N, (a.stride(-2), a.stride(-1))
        long, long_strides = u, (u.stride(0), u.stride(-1), u.stride(-2))
        short, short_strides = vh, (vh.stride(0), vh.stride(-2), vh.stride(-1))
    else:
        rows, cols, strides = N, M, (a.stride(-1), a.stride(-2))
        long, long_strides = vh, (vh.stride(0), vh.stride(-2), vh.stride(-1))
        short, short_strides = u, (u.stride(0), u.stride(-1), u.stride(-2))
    if rows == 0:
        return U, S, Vh
    if cols:
        width = triton.next_power_of_2(rows + cols)
        pairs = (cols + 1) // 2
        # Tiles of at most 8,192 values: a part of the columns of a large matrix, or some small matrices.
        most = max(1, 8192 // width)
        group = max(1, min(matrices, most // triton.next_power_of_2(pairs)))
        block = min(most, triton.next_power_of_2(group * pairs))
        warps = min(16, max(1, block * width // 512))
        work = torch.empty((matrices, cols, rows + cols), dtype=torch.float32, device=A.device)
        scale = torch.empty((matrices,), dtype=torch.float32, device=A.device)
        lengths = torch.empty((matrices, cols), dtype=torch.float32, device=A.device)
        shape = dict(BLOCK_C=min(most, triton.next_power_of_2(cols)), BLOCK_W=width, num_warps=warps)
        prepare_kernel[(matrices,)](a, work, scale, rows, cols, a.stride(0), *strides, **shape)
        jacobi_kernel[(triton.cdiv(matrices, group),)](work, lengths, matrices, rows, cols, 2 * pairs - 1, pairs, group,
                                                       BLOCK_P=block, BLOCK_W=width, num_warps=warps)
        sorted_kernel[(matrices,)](work, scale, long, short, S, lengths, rows, cols, *long_strides, *short_strides,
                                   **shape)
    block = triton.next_power_of_2(rows)
    complete_kernel[(matrices,)](long, S, rows, cols, rows if full_matrices else cols, *long_strides,
                                 BLOCK_V=max(1, min(block, 8192 // block)), BLOCK_R=block,
                                 num_warps=min(16, max(1, block * block // 512)))
    return U, S, Vh
