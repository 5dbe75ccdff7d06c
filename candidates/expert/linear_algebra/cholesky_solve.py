"""Solution of A X = B with the Cholesky factor of A: L Y = B from the first row down, then L^T X = Y from the last up.

One launch a block of rows: every program solves for the block's unknowns once more, then takes their part from some of
the rows that remain. A matrix of up to 64 rows is one block, and several small ones share a program. Right sides lie
along the first axis of a tile, so that a sum over rows stays within a warp.
"""

import torch
import triton
import triton.language as tl


@triton.jit(do_not_specialize=["k"])
def sweep_kernel(t_ptr, b_ptr, x_ptr, MATRICES, N, K, k, t_batch, t_row, t_col,
                 UPWARDS: tl.constexpr, MORE: tl.constexpr, GROUP: tl.constexpr, RIGHT: tl.constexpr,
                 BLOCK: tl.constexpr, ROWS: tl.constexpr):
    """Solve T x = b for rows k to k + BLOCK of x, T being upper triangular if UPWARDS, and take them from b if MORE."""
    matrix = tl.program_id(0).to(tl.int64) * GROUP + tl.arange(0, GROUP)[:, None]
    q = tl.program_id(1) * RIGHT + tl.arange(0, RIGHT)
    i = tl.arange(0, BLOCK)[None, :]
    width = tl.minimum(BLOCK, N - k)
    real = (matrix < MATRICES) & (i < width)
    at = ((matrix * N + k + i) * K)[:, None, :] + q[None, :, None]
    mask = real[:, None, :] & (q < K)[None, :, None]
    x = tl.load(b_ptr + at, mask=mask, other=0.0)
    block_ptr = t_ptr + matrix * t_batch + (k + i).to(tl.int64) * t_row
    for step in range(0, width):
        c = width - 1 - step if UPWARDS else step
        beyond = i < c if UPWARDS else i > c
        column = tl.load(block_ptr + (k + c).to(tl.int64) * t_col, mask=real & (beyond | (i == c)), other=0.0)
        pivot = tl.sum(tl.where(i == c, column, 0.0), axis=1)[:, None]
        here = (i == c)[:, None, :]
        value = tl.sum(tl.where(here, x, 0.0), axis=2) / tl.where(pivot == 0.0, 1.0, pivot)
        less = value[:, :, None] * tl.where(beyond, column, 0.0)[:, None, :]
        x = tl.where(here, value[:, :, None], x - less)
    tl.store(x_ptr + at, x, mask=mask & (tl.program_id(2) == 0))
    if MORE:
        matrix = tl.program_id(0).to(tl.int64)
        start = 0 if UPWARDS else k + BLOCK
        stop = k if UPWARDS else N
        r = (start + tl.program_id(2) * ROWS + tl.arange(0, ROWS))[None, :].to(tl.int64)
        c = k + tl.arange(0, BLOCK)[:, None]
        t = tl.load(t_ptr + matrix * t_batch + r * t_row + c.to(tl.int64) * t_col, mask=(r < stop) & (c < N), other=0.0)
        rest_ptr = b_ptr + (matrix * N + r) * K + q[:, None]
        rest = tl.load(rest_ptr, mask=(r < stop) & (q < K)[:, None], other=0.0)
        rest -= tl.dot(tl.reshape(x, (RIGHT, BLOCK)), t, input_precision="ieee", out_dtype=rest.dtype)
        tl.store(rest_ptr, rest, mask=(r < stop) & (q < K)[:, None])


def sweep(t, b, x, upwards):
    """x [matrices, N, K] from t [matrices, N, N] and b like x; b is overwritten if there is more than one block."""
    matrices, N, K = b.shape
    more = N > 64
    block = 64 if more else triton.next_power_of_2(N)
    right = min(64, max(16 if more else 1, triton.next_power_of_2(K)))
    most = 8192 if matrices <= 64 else 1024  # of many small matrices each has few warps of its own
    group = 1 if more else min(triton.next_power_of_2(matrices), max(1, most // (right * block)))
    warps = 4 if more else min(8, max(1, group * right * block // 512))
    for k in range(0, N, block) if not upwards else range((N - 1) // block * block, -1, -block):
        chunks = max(1, triton.cdiv(k if upwards else N - k - block, 64))
        sweep_kernel[(triton.cdiv(matrices, group), triton.cdiv(K, right), chunks)](
            t, b, x, matrices, N, K, k, *t.stride(), UPWARDS=upwards, MORE=more,
            GROUP=group, RIGHT=right, BLOCK=block, ROWS=64, num_warps=warps)


def cholesky_solve(B, L, upper=False, out=None):
    *batch, N, K = B.shape
    if L.shape[-1] != N or L.shape[-2] != N:
        raise RuntimeError(f"L of shape {list(L.shape)} does not fit B of shape {list(B.shape)}")
    batch = torch.broadcast_shapes(batch, L.shape[:-2])
    result = torch.empty((*batch, N, K), dtype=B.dtype, device=B.device)
    if result.numel():
        lower = L.expand(*batch, N, N).reshape(-1, N, N)
        if upper:
            lower = lower.mT
        b = torch.empty(result.shape, dtype=B.dtype, device=B.device).copy_(B).view(-1, N, K)
        y = torch.empty_like(b)
        sweep(lower, b, y, False)
        sweep(lower.mT, y, result.view(-1, N, K), True)
    return result if out is None else out.copy_(result)
