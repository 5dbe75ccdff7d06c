"""Thin singular value decomposition by one-sided Jacobi rotations, and the product of what it gave.

The matrix is taken so that it has at least as many rows as columns (transposed if need be). Rotations of pairs of
columns make all columns orthogonal to each other; their lengths are then the singular values, their directions the
left singular vectors, and the product of the rotations gives the right ones. The pairs follow a round-robin
tournament: in each of its rounds every column meets one other, so all pairs of a round are rotated at once. A small
matrix is one program's, which goes through all rounds of a sweep in one launch; of a large one every round is a launch.
"""

import torch
import triton
import triton.language as tl

SWEEPS = 24  # a bound: eight are enough for most matrices of 256 columns
TOLERANCE = tl.constexpr(2.0e-7)  # cosine of the angle between columns that count as orthogonal
TINY = tl.constexpr(1.0e-9)  # columns shorter than this part of the largest entry are taken for zero


@triton.jit
def largest_kernel(a_ptr, largest_ptr, M, N, a_m, a_n, BLOCK: tl.constexpr):
    largest = tl.zeros((BLOCK,), tl.float32)
    for first in range(0, M * N, BLOCK):
        at = (first + tl.arange(0, BLOCK)).to(tl.int64)
        a = tl.load(a_ptr + at // N * a_m + at % N * a_n, mask=at < M * N, other=0.0)
        largest = tl.maximum(largest, tl.abs(a))
    tl.store(largest_ptr, tl.max(largest, axis=0))


@triton.jit
def prepare_kernel(
    a_ptr, largest_ptr, work_ptr, ROWS, COLS, a_row, a_col, BLOCK_C: tl.constexpr, BLOCK_W: tl.constexpr
):
    """work [COLS, ROWS + COLS]: the columns of a, over its largest entry, beside those of the unit matrix."""
    j = (tl.program_id(0).to(tl.int64) * BLOCK_C + tl.arange(0, BLOCK_C))[:, None]
    at = tl.arange(0, BLOCK_W)[None, :]
    # Divided by its largest entry the matrix can be squared without overflow.
    largest = tl.load(largest_ptr)
    a = tl.load(a_ptr + at * a_row + j * a_col, mask=(j < COLS) & (at < ROWS), other=0.0)
    x = tl.where(at < ROWS, a / tl.where(largest > 0.0, largest, 1.0), tl.where(at - ROWS == j, 1.0, 0.0))
    tl.store(work_ptr + j * (ROWS + COLS) + at, x, mask=(j < COLS) & (at < ROWS + COLS))


@triton.jit(do_not_specialize=["first_round"])
def rotate_kernel(
    work_ptr, rotated_ptr, ROWS, COLS, ROUNDS, first_round, rounds, BLOCK_P: tl.constexpr, BLOCK_W: tl.constexpr
):
    """Rotate BLOCK_P of the pairs of each of some rounds (of one, unless this is the only program)."""
    width = ROWS + COLS
    at = tl.arange(0, BLOCK_W)[None, :]
    in_a = at < ROWS
    one = tl.full((BLOCK_P,), 1.0, tl.float32)
    pair = tl.program_id(0) * BLOCK_P + tl.arange(0, BLOCK_P)
    rotated = tl.zeros((BLOCK_P,), tl.int32)
    for turn in range(first_round, first_round + rounds):
        left = (turn + pair) % ROUNDS
        right = tl.where(pair == 0, ROUNDS, (turn + ROUNDS - pair) % ROUNDS)
        ok = (pair <= ROUNDS // 2) & (right < COLS)  # of an odd number of columns one has no partner
        mask = ok[:, None] & (at < width)
        left_at = work_ptr + left.to(tl.int64)[:, None] * width + at
        right_at = work_ptr + right.to(tl.int64)[:, None] * width + at
        x = tl.load(left_at, mask=mask, other=0.0)
        y = tl.load(right_at, mask=mask, other=0.0)
        xx = tl.sum(tl.where(in_a, x * x, 0.0), axis=1)
        yy = tl.sum(tl.where(in_a, y * y, 0.0), axis=1)
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
        rotated |= rotate.to(tl.int32)
        tl.debug_barrier()
    any_rotated = tl.max(rotated, axis=0)
    tl.store(rotated_ptr, any_rotated, mask=any_rotated != 0)


@triton.jit
def finish_kernel(work_ptr, largest_ptr, s_ptr, ROWS, COLS, BLOCK_C: tl.constexpr, BLOCK_W: tl.constexpr):
    """Singular values; work becomes the singular vectors that go with them (0 for a singular value of 0)."""
    j = tl.program_id(0) * BLOCK_C + tl.arange(0, BLOCK_C)
    at = tl.arange(0, BLOCK_W)[None, :]
    inside = (j < COLS)[:, None] & (at < ROWS + COLS)
    ptrs = work_ptr + j.to(tl.int64)[:, None] * (ROWS + COLS) + at
    x = tl.load(ptrs, mask=inside, other=0.0)
    a_length = tl.sqrt_rn(tl.sum(tl.where(at < ROWS, x * x, 0.0), axis=1))
    v_length = tl.sqrt_rn(tl.sum(tl.where(at >= ROWS, x * x, 0.0), axis=1))
    a_length = tl.where(a_length > TINY, a_length, 0.0)
    v_length = tl.where(j < COLS, v_length, 1.0)
    # Thousands of rotations change the lengths of the columns a little, those of both halves alike.
    tl.store(s_ptr + j, a_length / v_length * tl.load(largest_ptr), mask=j < COLS)
    u = tl.where(a_length[:, None] > 0.0, x / tl.where(a_length > 0.0, a_length, 1.0)[:, None], 0.0)
    tl.store(ptrs, tl.where(at < ROWS, u, x / v_length[:, None]), mask=inside)


@triton.jit
def product_kernel(
    work_ptr, s_ptr, y_ptr, ROWS, COLS, y_row, y_col, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):
    """y = U diag(S) V^T, its rows being as long as the columns of U."""
    row = tl.program_id(0).to(tl.int64) * BM + tl.arange(0, BM)
    column = tl.program_id(1).to(tl.int64) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), tl.float32)
    for start in range(0, COLS, BK):
        k = start + tl.arange(0, BK)
        vectors = work_ptr + k.to(tl.int64) * (ROWS + COLS)
        u = tl.load(vectors[None, :] + row[:, None], mask=(row < ROWS)[:, None] & (k < COLS)[None, :], other=0.0)
        s = tl.load(s_ptr + k, mask=k < COLS, other=0.0)
        v_mask = (k < COLS)[:, None] & (column < COLS)[None, :]
        v = tl.load(vectors[:, None] + ROWS + column[None, :], mask=v_mask, other=0.0)
        total = tl.dot(u * s[None, :], v, total, input_precision="ieee")
    y_ptrs = y_ptr + row[:, None] * y_row + column[None, :] * y_col
    tl.store(y_ptrs, total, mask=(row < ROWS)[:, None] & (column < COLS)[None, :])


def fused_svd_reconstruct(A):
    M, N = A.shape
    y = torch.empty((M, N), dtype=A.dtype, device=A.device)
    if not A.numel():
        return y
    a, to = (A, y) if M >= N else (A.t(), y.t())
    rows, cols = a.shape
    pairs, width = (cols + 1) // 2, triton.next_power_of_2(rows + cols)
    rounds = 2 * pairs - 1
    work = torch.empty((cols, rows + cols), dtype=torch.float32, device=A.device)
    largest = torch.empty(1, dtype=torch.float32, device=A.device)
    values = torch.empty(cols, dtype=torch.float32, device=A.device)
    rotated = torch.zeros(SWEEPS, dtype=torch.int32, device=A.device)
    block = max(1, 4096 // width)
    tile = dict(BLOCK_C=min(block, triton.next_power_of_2(cols)), BLOCK_W=width, num_warps=8)
    columns_grid = (triton.cdiv(cols, tile["BLOCK_C"]),)
    largest_kernel[(1,)](A, largest, M, N, *A.stride(), BLOCK=min(triton.next_power_of_2(M * N), 8192), num_warps=16)
    prepare_kernel[columns_grid](a, largest, work, rows, cols, *a.stride(), **tile)
    together = triton.next_power_of_2(pairs)
    small = together * width <= 16384
    block, at_once = (together, rounds) if small else (max(1, 2048 // width), 1)
    for sweep in range(SWEEPS):
        for first in range(0, rounds, at_once):
            rotate_kernel[(triton.cdiv(pairs, block),)](
                work, rotated[sweep:], rows, cols, rounds, first, at_once, BLOCK_P=block, BLOCK_W=width,
                num_warps=min(16, max(1, block * width // 512)),
            )  # fmt: skip
        if not rotated[sweep].item():
            break
    finish_kernel[columns_grid](work, largest, values, rows, cols, **tile)
    BM, BN, BK = (32, 32, 32) if rows * cols < 1 << 16 else (64, 64, 32)
    product_kernel[(triton.cdiv(rows, BM), triton.cdiv(cols, BN))](
        work, values, to, rows, cols, *to.stride(), BM, BN, BK
    )
    return y
