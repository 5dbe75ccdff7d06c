"""Triangular system by blocks of 64 rows, with the inverses of the blocks on the diagonal.

The inverses are independent of each other: one launch makes them all. Then a launch goes one block up: every program
takes what the last known block of x contributes from 64 rows of the right-hand side; the first one, whose rows come
next, then makes x of them.
"""

import torch
import triton
import triton.language as tl


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
    a_ptr, inverse_ptr, work_ptr, y_ptr, alpha_ptr, out_ptr, N, K, step, a_row, a_column, y_row, y_column,
    BLOCK: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """Work [N, K] becomes x, from the last block of rows up; out is x + alpha * y."""
    block = tl.cdiv(N, BLOCK) - 1 - step - tl.program_id(0)
    row = (block * BLOCK + tl.arange(0, BLOCK)).to(tl.int64)[:, None]
    column = (tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS))[None, :]
    i = tl.arange(0, BLOCK)[:, None]
    j = tl.arange(0, BLOCK)[None, :]
    first = tl.program_id(0) == 0
    inverse_ptr += block.to(tl.int64) * BLOCK * BLOCK
    inverse = tl.load(inverse_ptr + i * BLOCK + j, mask=first & (i >= 0), other=0.0)
    mask = (row < N) & (column < K)
    x = tl.load(work_ptr + row * K + column, mask=mask, other=0.0)
    if step > 0:
        known = (block + 1 + tl.program_id(0)).to(tl.int64) * BLOCK
        a_at = a_ptr + row * a_row + (known + j) * a_column
        a = tl.load(a_at, mask=(row < N) & (known + j < N), other=0.0)
        last = tl.load(work_ptr + (known + i) * K + column, mask=(known + i < N) & (column < K), other=0.0)
        x -= product(a, last)
    if first:
        x = product(inverse, x)
        alpha = tl.load(alpha_ptr)
        y = tl.load(y_ptr + row * y_row + column * y_column, mask=mask, other=0.0)
        tl.store(out_ptr + row * K + column, x + alpha * y, mask=mask)
    tl.store(work_ptr + row * K + column, x, mask=mask)


def solve_and_add_scaled_vector(A, b, y, alpha):
    N, K = b.shape
    if A.shape != (N, N):
        raise RuntimeError(f"A must be [{N}, {N}] for b of shape [{N}, {K}], but is {list(A.shape)}")
    out = torch.empty((N, K), dtype=b.dtype, device=b.device)
    if not out.numel():
        return out
    y = y.expand(N, K)
    alpha = torch.full((1,), alpha, dtype=b.dtype, device=b.device)  # as an argument it would be float32
    work = torch.empty((N, K), dtype=b.dtype, device=b.device)
    work.copy_(b)
    block = min(64, max(16, triton.next_power_of_2(N)))
    blocks = triton.cdiv(N, block)
    inverse = torch.empty((blocks, block, block), dtype=b.dtype, device=b.device)
    inverse_kernel[(blocks,)](A, inverse, N, *A.stride(), BLOCK=block)
    columns = 1 if K == 1 else 16
    for step in range(blocks):
        grid = (blocks - step if step else 1, triton.cdiv(K, columns))
        solve_kernel[grid](
            A, inverse, work, y, alpha, out, N, K, step, *A.stride(), *y.stride(), BLOCK=block, COLUMNS=columns,
            num_warps=8,
        )  # fmt: skip
    return out
