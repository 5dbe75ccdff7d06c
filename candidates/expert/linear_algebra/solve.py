"""Solve linear systems by Gauss-Jordan elimination with partial pivoting.

In step j the row with the largest entry of column j is chosen among those not chosen before, and column j is removed
from all other rows; in the end each row knows one unknown, and a division gives it. Small [A | B] stay in registers,
several to a program; a larger one lies in a buffer of its own, where the row chosen comes to place j.
"""

import torch
import triton
import triton.language as tl


@triton.jit(do_not_specialize=["a_m", "b_k"])
def small_kernel(
    a_ptr, b_ptr, x_ptr, failed_ptr, SYSTEMS, N, K, a_s, a_n, a_m, b_s, b_n, b_k,
    GROUP: tl.constexpr, BLOCK_W: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    """The distance of columns is not known to the compiler: so it gives every thread whole rows."""
    system = (tl.program_id(0) * GROUP + tl.arange(0, GROUP)).to(tl.int64)
    s = system[:, None, None]
    row = tl.arange(0, BLOCK_N)[None, :]
    c = tl.arange(0, BLOCK_W)[None, :, None]
    inside = (s < SYSTEMS) & (row < N)[:, None, :]
    in_b = inside & (c >= N) & (c < N + K)
    w = tl.load(a_ptr + s * a_s + row[:, None, :] * a_n + c * a_m, mask=inside & (c < N), other=0.0)
    w += tl.load(b_ptr + s * b_s + row[:, None, :] * b_n + (c - N) * b_k, mask=in_b, other=0.0)
    unknown = tl.full((GROUP, BLOCK_N), -1, tl.int32)  # which one a row knows
    divisor = tl.full((GROUP, BLOCK_N), 1.0, w.dtype)
    singular = tl.zeros((GROUP,), tl.int32)
    for j in range(0, N):
        column = tl.sum(tl.where(c == j, w, 0.0), axis=1)
        size = tl.where(column == column, tl.abs(column), float("inf"))  # NaN spreads
        best = tl.argmax(tl.where((unknown < 0) & (row < N), size, -1.0), axis=1)[:, None]
        pivot = tl.sum(tl.where(row == best, column, 0.0), axis=1)
        singular += (pivot == 0.0).to(tl.int32)
        pivot = tl.where(pivot == 0.0, 1.0, pivot)[:, None]
        pivots = tl.gather(w, tl.broadcast_to(best[:, :, None], (GROUP, BLOCK_W, BLOCK_N)), 2)
        w -= tl.where(row == best, 0.0, column / pivot)[:, None, :] * pivots
        unknown = tl.where(row == best, j, unknown)
        divisor = tl.where(row == best, pivot, divisor)
    tl.store(failed_ptr + system, singular, mask=system < SYSTEMS)
    tl.store(x_ptr + (s * N + unknown[:, None, :]) * K + (c - N), w / divisor[:, None, :], mask=in_b)


@triton.jit
def solve_kernel(
    a_ptr, b_ptr, w_ptr, x_ptr, failed_ptr, N, K, a_s, a_n, a_m, b_s, b_n, b_k,
    BLOCK_N: tl.constexpr, BLOCK_R: tl.constexpr, BLOCK_W: tl.constexpr,
):  # fmt: skip
    system = tl.program_id(0).to(tl.int64)
    width = N + K
    a_ptr += system * a_s
    b_ptr += system * b_s
    w_ptr += system * N * width
    x_ptr += system * N * K
    n = tl.arange(0, BLOCK_N)
    c = tl.arange(0, BLOCK_W)
    column = c[None, :]
    in_b = (column >= N) & (column < width)
    for start in range(0, N, BLOCK_R):
        r = start + tl.arange(0, BLOCK_R)[:, None]
        a = tl.load(a_ptr + r * a_n + column * a_m, mask=(r < N) & (column < N), other=0.0)
        b = tl.load(b_ptr + r * b_n + (column - N) * b_k, mask=(r < N) & in_b, other=0.0)
        tl.store(w_ptr + r * width + column, tl.where(column < N, a, b), mask=(r < N) & (column < width))
    tl.debug_barrier()

    singular = 0
    for j in range(0, N):
        below = tl.load(w_ptr + n * width + j, mask=(n >= j) & (n < N), other=0.0)
        best = tl.argmax(tl.where((n >= j) & (n < N), tl.abs(below), -1.0), axis=0)
        pivot = tl.load(w_ptr + best * width + j)
        chosen = tl.load(w_ptr + best * width + c, mask=c < width, other=0.0)
        displaced = tl.load(w_ptr + j * width + c, mask=c < width, other=0.0)
        tl.debug_barrier()
        tl.store(w_ptr + best * width + c, displaced, mask=c < width)
        tl.debug_barrier()
        tl.store(w_ptr + j * width + c, chosen, mask=c < width)
        tl.debug_barrier()
        singular += (pivot == 0.0).to(tl.int32)
        divisor = tl.where(pivot == 0.0, 1.0, pivot)
        for start in range(0, N, BLOCK_R):
            row = start + tl.arange(0, BLOCK_R)
            others = (row < N) & (row != j)
            factor = tl.load(w_ptr + row * width + j, mask=others, other=0.0) / divisor
            at = w_ptr + row[:, None] * width + column
            mask = others[:, None] & (column > j) & (column < width)
            rest = tl.load(at, mask=mask, other=0.0)
            tl.store(at, rest - factor[:, None] * chosen[None, :], mask=mask)
        tl.debug_barrier()
    tl.store(failed_ptr + system, singular)

    for start in range(0, N, BLOCK_R):
        row = start + tl.arange(0, BLOCK_R)
        diagonal = tl.load(w_ptr + row * width + row, mask=row < N, other=1.0)[:, None]
        known = (row[:, None] < N) & in_b
        right = tl.load(w_ptr + row[:, None] * width + column, mask=known, other=0.0)
        tl.store(x_ptr + row[:, None] * K + (column - N), right / tl.where(diagonal == 0.0, 1.0, diagonal), mask=known)


def solve(A, B):
    if A.dim() < 2 or A.shape[-1] != A.shape[-2]:
        raise RuntimeError(f"A must be batches of square matrices, but is {list(A.shape)}")
    N = A.shape[-1]
    vector = B.dim() == 1 or (B.dim() == A.dim() - 1 and B.shape == A.shape[:-1])
    b = B.unsqueeze(-1) if vector else B
    if b.shape[-2] != N:
        raise RuntimeError(f"B of shape {list(B.shape)} does not fit A of shape {list(A.shape)}")
    K = b.shape[-1]
    batch = torch.broadcast_shapes(A.shape[:-2], b.shape[:-2])
    x = torch.empty((*batch, N, K), dtype=A.dtype, device=A.device)
    if x.numel():
        a = A.expand(*batch, N, N).reshape(-1, N, N)
        b = b.expand(*batch, N, K).reshape(-1, N, K)
        systems = a.shape[0]
        width = triton.next_power_of_2(N + K)
        side = triton.next_power_of_2(N)
        failed = torch.empty((systems,), dtype=torch.int32, device=A.device)
        if side * width <= 4096:
            group = min(triton.next_power_of_2(systems), max(1, 1024 // (side * width)))
            small_kernel[(triton.cdiv(systems, group),)](
                a, b, x, failed, systems, N, K, *a.stride(), *b.stride(), group, width, side,
                num_warps=max(1, side * width * x.element_size() // 8192),
            )  # fmt: skip
        else:
            block = max(1, min(side, 8192 // width))
            work = torch.empty((systems, N, N + K), dtype=A.dtype, device=A.device)
            solve_kernel[(systems,)](
                a, b, work, x, failed, N, K, *a.stride(), *b.stride(), side, block, width,
                num_warps=min(16, max(1, block * width // 256)),
            )  # fmt: skip
        if failed.any():
            raise torch.linalg.LinAlgError("the solver failed because the input matrix is singular")
    return x.squeeze(-1) if vector else x
