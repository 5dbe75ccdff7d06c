"""Real power of symmetric matrices, by one-sided Jacobi rotations.

With c no less than any eigenvalue's magnitude, A + c is positive semidefinite. Rotations of pairs of its columns make
them all orthogonal to each other: (A + c) V = W, V being the product of the rotations. Then V's columns are the
eigenvectors, and v^T w - c are the eigenvalues of A. For c serves the root of the largest sum over a row of |A^2|: the
nearer it is to the largest eigenvalue, the fewer digits are lost.

The pairs follow a round-robin tournament. Of small matrices a program takes one or several, to the end. The columns of
a large one are cut into blocks, for which there is a tournament, too: a program rotates the columns of two of them.
"""

import torch
import triton
import triton.language as tl

SWEEPS = 24  # a bound: eight are enough for most matrices of 256 columns
TINY = tl.constexpr(1.0e-120)  # products of columns whose fourth power is below this are taken for 0


@triton.jit
def largest_kernel(a_ptr, largest_ptr, M, N, a_matrix, a_row, a_column, BLOCK: tl.constexpr):
    """The largest entry of a matrix, or 1 if all are 0."""
    matrix = tl.program_id(0).to(tl.int64)
    largest = tl.zeros((BLOCK,), a_ptr.dtype.element_ty)
    for first in range(0, M * N, BLOCK):
        at = first + tl.arange(0, BLOCK)
        a_at = a_ptr + matrix * a_matrix + (at // N).to(tl.int64) * a_row + (at % N).to(tl.int64) * a_column
        largest = tl.maximum(largest, tl.abs(tl.load(a_at, mask=at < M * N, other=0.0)))
    found = tl.max(largest, axis=0)
    tl.store(largest_ptr + matrix, tl.where(found > 0.0, found, 1.0))


@triton.jit
def prepare_kernel(
    a_ptr, largest_ptr, work_ptr, ROWS, COLS, SLOTS, a_matrix, a_row, a_column,
    BLOCK: tl.constexpr, WIDTH: tl.constexpr,
):  # fmt: skip
    """work [matrices, SLOTS, ROWS + COLS]: the columns of a, over its largest entry, beside those of the unit matrix.

    Slots beyond COLS are filled with 0.
    """
    matrix = tl.program_id(0).to(tl.int64)
    j = (tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)).to(tl.int64)[:, None]
    at = tl.arange(0, WIDTH)[None, :]
    # Divided by its largest entry the matrix can be squared without overflow.
    low, high = tl.minimum(at, j), tl.maximum(at, j)  # of the symmetric matrix the lower triangle is read
    a_at = a_ptr + matrix * a_matrix + high * a_row + low * a_column
    a = tl.load(a_at, mask=(j < COLS) & (at < ROWS), other=0.0) / tl.load(largest_ptr + matrix)
    x = tl.where(at < ROWS, a, tl.where((at - ROWS == j) & (j < COLS), 1.0, 0.0))
    tl.store(work_ptr + (matrix * SLOTS + j) * (ROWS + COLS) + at, x, mask=(j < SLOTS) & (at < ROWS + COLS))


@triton.jit
def shift_kernel(square_ptr, work_ptr, shift_ptr, N, SLOTS, BLOCK: tl.constexpr, WIDTH: tl.constexpr):
    """Add the shift to the diagonals of the matrices in work, whose squares are in square [matrices, N, N]."""
    matrix = tl.program_id(0).to(tl.int64)
    square_ptr += matrix * N * N
    work_ptr += matrix * SLOTS * 2 * N
    most = tl.zeros((BLOCK,), square_ptr.dtype.element_ty)
    at = tl.arange(0, WIDTH)[None, :]
    for first in range(0, N, BLOCK):
        row = first + tl.arange(0, BLOCK)
        square = tl.load(square_ptr + row[:, None] * N + at, mask=(row[:, None] < N) & (at < N), other=0.0)
        most = tl.maximum(most, tl.sum(tl.abs(square), axis=1))
    shift = 1.01 * tl.sqrt(tl.max(most, axis=0))
    tl.store(shift_ptr + matrix, shift)
    for first in range(0, N, BLOCK):
        row = first + tl.arange(0, BLOCK)
        diagonal = work_ptr + row.to(tl.int64) * (2 * N + 1)
        tl.store(diagonal, tl.load(diagonal, mask=row < N, other=0.0) + shift, mask=row < N)


@triton.jit(do_not_specialize=["turn"])
def rotate_kernel(
    work_ptr, rotated_ptr, MATRICES, ROWS, LENGTH, SLOTS, GROUP, HALF, BLOCKS, turn, sweeps, tolerance,
    CROSS: tl.constexpr, PAIRS: tl.constexpr, WIDTH: tl.constexpr,
):  # fmt: skip
    """Rotate the columns of two blocks of HALF, until all are orthogonal or `sweeps` are done.

    With CROSS columns of one block meet those of the other alone, else every column meets every other. It is always the
    columns in the same places that meet, and they are stored where they meet their next ones; in the end all are back.
    """
    i = tl.arange(0, PAIRS)
    pair = i % HALF
    matrix = (tl.program_id(0) * GROUP + i // HALF).to(tl.int64)
    here = (i < GROUP * HALF) & (matrix < MATRICES)
    others, block = BLOCKS - 1, tl.program_id(1)
    left_start = (turn + block) % others * HALF
    right_start = tl.where(block == 0, others, (turn + others - block) % others) * HALF - HALF
    odd = 2 * HALF - 1
    left_next = tl.where((pair == 0) | CROSS, pair, tl.where(pair == HALF - 1, odd, pair + 1))
    right_next = tl.where(pair == 0, odd if CROSS else 1, HALF + pair - 1)
    left_next += tl.where(left_next < HALF, left_start, right_start)
    right_next += tl.where(right_next < HALF, left_start, right_start)
    at = tl.arange(0, WIDTH)[None, :]
    mask = here[:, None] & (at < LENGTH)
    in_w = at < ROWS
    work_ptr += matrix[:, None] * SLOTS * LENGTH + at
    left_at = work_ptr + (left_start + pair)[:, None].to(tl.int64) * LENGTH
    right_at = work_ptr + (right_start + HALF + pair)[:, None].to(tl.int64) * LENGTH
    left_to = work_ptr + left_next[:, None].to(tl.int64) * LENGTH
    right_to = work_ptr + right_next[:, None].to(tl.int64) * LENGTH
    sweep = 0
    rotations = 1
    while (sweep < sweeps) & (rotations > 0):
        rotated = tl.zeros((PAIRS,), tl.int1)
        for _ in range(0, HALF if CROSS else odd):
            x = tl.load(left_at, mask=mask, other=0.0)
            y = tl.load(right_at, mask=mask, other=0.0)
            w = tl.where(in_w, x, 0.0)
            xx = tl.sum(w * x, axis=1).to(tl.float64)
            xy = tl.sum(w * y, axis=1).to(tl.float64)
            yy = tl.sum(tl.where(in_w, y * y, 0.0), axis=1).to(tl.float64)
            rotate = xy * xy > tolerance * xx * yy + TINY
            # The smaller root t of t^2 + (yy - xx) / xy t - 1 = 0 is the tangent of the angle.
            gap = yy - xx
            root = tl.abs(gap) + tl.sqrt(gap * gap + 4.0 * xy * xy)
            t = tl.where(rotate, 2.0 * tl.where(gap < 0.0, -xy, xy) / tl.where(rotate, root, 1.0), 0.0)
            cosine = 1.0 / tl.sqrt(1.0 + t * t)
            sine = (cosine * t).to(x.dtype)[:, None]
            cosine = cosine.to(x.dtype)[:, None]
            tl.debug_barrier()
            tl.store(left_to, cosine * x - sine * y, mask=mask)
            tl.store(right_to, sine * x + cosine * y, mask=mask)
            tl.debug_barrier()
            rotated |= rotate
        rotations = tl.max(rotated.to(tl.int32), axis=0)
        sweep += 1
    tl.store(rotated_ptr, 1, mask=rotations > 0)


@triton.jit
def weight_kernel(
    work_ptr, largest_ptr, shift_ptr, k_ptr, weight_ptr, N, SLOTS, whole, odd, BLOCK: tl.constexpr, WIDTH: tl.constexpr
):
    """What v v^T counts for: the power of the eigenvalue, v being of length 1. Computed in float64."""
    matrix = tl.program_id(0).to(tl.int64)
    j = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    at = tl.arange(0, WIDTH)[None, :]
    start = work_ptr + (matrix * SLOTS + j)[:, None] * 2 * N + at
    mask = (j[:, None] < SLOTS) & (at < N)
    w = tl.load(start, mask=mask, other=0.0)
    v = tl.load(start + N, mask=mask, other=0.0)
    # Thousands of rotations change the lengths of the columns a little, those of both halves alike.
    length = tl.sum(v * v, axis=1).to(tl.float64)
    here = length > 0.0
    length = tl.where(here, length, 1.0)
    shifted = tl.sum(v * w, axis=1).to(tl.float64) / length
    eigenvalue = (shifted - tl.load(shift_ptr + matrix)) * tl.load(largest_ptr + matrix)
    k = tl.load(k_ptr)
    power = tl.where(k == 0.0, 1.0, tl.exp(k * tl.log(tl.abs(eigenvalue))))
    negative = tl.where(odd != 0, -power, tl.where(whole != 0, power, float("nan")))
    power = tl.where(eigenvalue < 0.0, negative, power)
    tl.store(weight_ptr + matrix * SLOTS + j, tl.where(here, power / length, 0.0), mask=j < SLOTS)


@triton.jit
def product_kernel(
    work_ptr, weight_ptr, y_ptr, LENGTH, SLOTS, X_ROWS, Y_COLS, x_start, y_start, y_matrix, y_row, y_column,
    TILE: tl.constexpr, STEP: tl.constexpr,
):  # fmt: skip
    """The sum of weight * x * z^T over all columns of work, x and z being parts of them."""
    matrix = tl.program_id(0).to(tl.int64)
    row = tl.program_id(1) * TILE + tl.arange(0, TILE)[:, None]
    column = tl.program_id(2) * TILE + tl.arange(0, TILE)[None, :]
    work_ptr += matrix * SLOTS * LENGTH
    total = tl.zeros((TILE, TILE), y_ptr.dtype.element_ty)
    for first in range(0, SLOTS, STEP):
        across = first + tl.arange(0, STEP)[None, :]
        down = first + tl.arange(0, STEP)[:, None]
        weight = tl.load(weight_ptr + matrix * SLOTS + across, mask=across < SLOTS, other=0.0)
        x_at = work_ptr + across.to(tl.int64) * LENGTH + x_start + row
        x = tl.load(x_at, mask=(row < X_ROWS) & (across < SLOTS), other=0.0)
        z_at = work_ptr + down.to(tl.int64) * LENGTH + y_start + column
        z = tl.load(z_at, mask=(column < Y_COLS) & (down < SLOTS), other=0.0)
        total += tl.dot(x * weight, z, input_precision="ieee")
    y_at = y_ptr + matrix * y_matrix + row.to(tl.int64) * y_row + column.to(tl.int64) * y_column
    tl.store(y_at, total, mask=(row < X_ROWS) & (column < Y_COLS))


def tiles(dtype, rows, columns):
    """The width of a tile, columns to a block, and blocks: two for small matrices, else an even number of them."""
    width = triton.next_power_of_2(rows + columns)
    half = (columns + 1) // 2
    if triton.next_power_of_2(half) * width <= (8192 if dtype == torch.float64 else 16384):
        return width, half, 2
    half = max(2, min(16, (4096 if width < 2048 else 8192) // width))
    return width, half, triton.cdiv(columns, 2 * half) * 2


def orthogonalise(work, rows, half, blocks):
    """Rotate the columns of every matrix of work [matrices, blocks * half, length] until they are orthogonal."""
    matrices, slots, length = work.shape
    width = triton.next_power_of_2(length)
    tolerance = (4 * torch.finfo(work.dtype).eps) ** 2
    most = 32768 // work.element_size() // (triton.next_power_of_2(half) * width)
    group = 1 if blocks > 2 else max(1, min(matrices, most))
    pairs = triton.next_power_of_2(half * group)
    rotated = torch.zeros(SWEEPS, dtype=torch.int32, device=work.device)
    for sweep in range(SWEEPS if blocks > 2 else 1):
        for turn in range(blocks - 1):
            rotate_kernel[(triton.cdiv(matrices, group), blocks // 2)](
                work, rotated[sweep:], matrices, rows, length, slots, group, half, blocks, turn,
                SWEEPS if blocks == 2 else 1, tolerance,
                CROSS=turn > 0, PAIRS=pairs, WIDTH=width, num_warps=max(1, min(16, pairs * width // 512)),
            )  # fmt: skip
        if blocks > 2 and not rotated[sweep].item():
            break


def matrix_power_eig(A, k, *, out=None):
    *batch, N, _ = A.shape
    y = torch.empty((*batch, N, N), dtype=A.dtype, device=A.device)
    if y.numel():
        a, to = A.reshape(-1, N, N), y.view(-1, N, N)
        matrices = a.shape[0]
        width, half, blocks = tiles(A.dtype, N, N)
        slots = half * blocks
        work = torch.empty((matrices, slots, 2 * N), dtype=A.dtype, device=A.device)
        largest, shift = torch.empty((2, matrices), dtype=A.dtype, device=A.device)
        power = torch.full((1,), k, dtype=torch.float64, device=A.device)  # as an argument it would be float32
        weights = torch.ones((matrices, slots), dtype=A.dtype, device=A.device)
        block = max(1, min(triton.next_power_of_2(slots), 4096 // width))
        shape = dict(BLOCK=block, WIDTH=width)
        largest_kernel[(matrices,)](a, largest, N, N, *a.stride(), BLOCK=min(8192, triton.next_power_of_2(N * N)))
        columns = (matrices, triton.cdiv(slots, block))
        prepare_kernel[columns](a, largest, work, N, N, slots, *a.stride(), **shape)
        tile = 32 if N <= 128 else 64
        product_shape = dict(TILE=tile, STEP=16)
        square = (matrices, triton.cdiv(N, tile), triton.cdiv(N, tile))
        product_kernel[square](work, weights, to, 2 * N, slots, N, N, 0, 0, *to.stride(), **product_shape)
        shift_kernel[(matrices,)](to, work, shift, N, slots, **shape)
        orthogonalise(work, N, half, blocks)
        whole = float(k).is_integer()
        weight_kernel[columns](
            work, largest, shift, power, weights, N, slots, int(whole), int(whole and k % 2 == 1), **shape
        )
        product_kernel[square](work, weights, to, 2 * N, slots, N, N, N, N, *to.stride(), **product_shape)
    return y if out is None else out.copy_(y)
