"""Solution of A x = b by a Cholesky factorisation that takes b along: it is written below A, as K more rows.

Dividing these rows by the factor, like all others, solves L y = b. What is left is L^T x = y, from the last block of
32 unknowns to the first. Every program of a panel factorises the panel's block on the diagonal once more, and divides
some of the rows below by it as it goes; then the lower half of w loses the product of the panel and its transpose.
"""

import torch
import triton
import triton.language as tl


@triton.jit(do_not_specialize=["k"])
def panel_kernel(w_ptr, l_ptr, failed_ptr, M, N, k, BLOCK: tl.constexpr, ROWS: tl.constexpr):
    """Columns k to k + BLOCK of l [M, N]: the block on the diagonal, by the first program, and ROWS rows below."""
    i = tl.arange(0, BLOCK)
    j = i[None, :]
    width = tl.minimum(BLOCK, N - k)
    r = (k + width + tl.program_id(0) * ROWS + tl.arange(0, ROWS)).to(tl.int64)[:, None]
    top_at = (k + i).to(tl.int64)[:, None] * N + k + j
    on_top = (i < width)[:, None] & (j < width)
    below = (r < M) & (j < width)
    top = tl.load(w_ptr + top_at, mask=on_top & (j <= i[:, None]), other=0.0)
    low = tl.load(w_ptr + r * N + k + j, mask=below, other=0.0)
    bad = 0
    for c in range(0, width):
        x = tl.sum(tl.where(j == c, top, 0.0), axis=1)
        pivot = tl.sum(tl.where(i == c, x, 0.0), axis=0)
        bad += tl.where(pivot > 0.0, 0, 1)
        root = tl.sqrt(tl.where(pivot > 0.0, pivot, 1.0))
        x = tl.where(i >= c, x / root, 0.0)
        over = tl.where(i > c, x, 0.0)[None, :]
        top = tl.where(j == c, x[:, None], top - x[:, None] * over)
        x = tl.sum(tl.where(j == c, low, 0.0), axis=1) / root
        low = tl.where(j == c, x[:, None], low - x[:, None] * over)
    first = tl.program_id(0) == 0
    tl.store(l_ptr + top_at, tl.where(j <= i[:, None], top, 0.0), mask=on_top & first)
    tl.store(l_ptr + r * N + k + j, low, mask=below)
    tl.store(failed_ptr + k // BLOCK, bad, mask=first)


@triton.jit(do_not_specialize=["k"])
def update_kernel(w_ptr, l_ptr, M, N, k, BLOCK: tl.constexpr, TILE: tl.constexpr):
    """A tile of the lower part of w beyond a panel, less the panel's rows times the transpose of its rows."""
    if tl.program_id(0) >= tl.program_id(1):
        r = (k + BLOCK + tl.program_id(0) * TILE + tl.arange(0, TILE)).to(tl.int64)[:, None]
        c = (k + BLOCK + tl.program_id(1) * TILE + tl.arange(0, TILE)).to(tl.int64)[None, :]
        p = k + tl.arange(0, BLOCK)
        x = tl.load(l_ptr + r * N + p[None, :], mask=r < M, other=0.0)
        y = tl.load(l_ptr + c * N + p[:, None], mask=c < N, other=0.0)
        w = tl.load(w_ptr + r * N + c, mask=(r < M) & (c < N), other=0.0)
        tl.store(w_ptr + r * N + c, w - tl.dot(x, y, input_precision="ieee"), mask=(r < M) & (c < N))


@triton.jit(do_not_specialize=["k"])
def back_kernel(l_ptr, x_ptr, N, K, k, RIGHT: tl.constexpr, BLOCK: tl.constexpr, COLS: tl.constexpr):
    """Solve for the unknowns k to k + BLOCK, and take them from y, the last K rows of l [N + K, N]."""
    q = tl.program_id(1) * RIGHT + tl.arange(0, RIGHT)[:, None]
    j = tl.arange(0, BLOCK)[None, :]
    width = tl.minimum(BLOCK, N - k)
    y_ptr = l_ptr + (N + q).to(tl.int64) * N
    mask = (q < K) & (j < width)
    y = tl.load(y_ptr + k + j, mask=mask, other=0.0)
    for step in range(0, width):
        c = width - 1 - step
        row = tl.load(l_ptr + (k + c).to(tl.int64) * N + k + j, mask=j <= c, other=0.0)
        pivot = tl.sum(tl.where(j == c, row, 0.0), axis=1)[:, None]
        x = tl.sum(tl.where(j == c, y, 0.0), axis=1)[:, None] / pivot
        y = tl.where(j == c, x, y - x * tl.where(j < c, row, 0.0))
    tl.store(x_ptr + (k + j).to(tl.int64) * K + q, y, mask=mask & (tl.program_id(0) == 0))
    c = (tl.program_id(0) * COLS + tl.arange(0, COLS))[None, :]
    p = tl.arange(0, BLOCK)[:, None]
    low = tl.load(l_ptr + (k + p).to(tl.int64) * N + c, mask=(p < width) & (c < k), other=0.0)
    rest = tl.load(y_ptr + c, mask=(q < K) & (c < k), other=0.0)
    tl.store(y_ptr + c, rest - tl.dot(y, low, input_precision="ieee"), mask=(q < K) & (c < k))


def fused_cholesky_solve(A, b):
    N, K = b.shape
    x = torch.empty((N, K), dtype=b.dtype, device=b.device)
    if not x.numel():
        return x
    w = torch.empty((N + K, N), dtype=A.dtype, device=A.device)
    w[:N].copy_(A)
    w[N:].copy_(b.mT)
    factor = torch.empty_like(w)
    block = max(16, min(32, triton.next_power_of_2(N)))
    failed = torch.empty(triton.cdiv(N, block), dtype=torch.int32, device=A.device)
    for k in range(0, N, block):
        rows = N + K - min(N, k + block)
        panel_kernel[(triton.cdiv(rows, 64),)](w, factor, failed, N + K, N, k, BLOCK=block, ROWS=64, num_warps=4)
        if k + block < N:
            grid = (triton.cdiv(rows, 64), triton.cdiv(N - k - block, 64))
            update_kernel[grid](w, factor, N + K, N, k, BLOCK=block, TILE=64, num_warps=8)
    if failed.any():
        raise torch.linalg.LinAlgError("the input is not positive-definite")
    for k in range((N - 1) // block * block, -1, -block):
        grid = (max(1, triton.cdiv(k, 64)), triton.cdiv(K, 16))
        back_kernel[grid](factor, x, N, K, k, RIGHT=16, BLOCK=block, COLS=64, num_warps=4)
    return x
