"""Solve linear systems by Gauss-Jordan elimination with partial pivoting, one program per matrix.

[A | B] lies in a buffer of its own. In step j the row with the largest entry of column j comes to place j, and column j
is removed from all other rows; in the end A is diagonal and a division gives the result.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def solve_kernel(a_ptr, b_ptr, w_ptr, x_ptr, failed_ptr, N, K, a_s, a_n, a_m, b_s, b_n, b_k,
                 BLOCK_N: tl.constexpr, BLOCK_R: tl.constexpr, BLOCK_W: tl.constexpr):
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
        block = max(1, min(triton.next_power_of_2(N), 8192 // width))
        work = torch.empty((systems, N, N + K), dtype=A.dtype, device=A.device)
        failed = torch.empty((systems,), dtype=torch.int32, device=A.device)
        solve_kernel[(systems,)](a, b, work, x, failed, N, K, *a.stride(), *b.stride(),
                                 BLOCK_N=triton.next_power_of_2(N), BLOCK_R=block, BLOCK_W=width,
                                 num_warps=min(16, max(1, block * width // 256)))
        if failed.any():
            raise torch.linalg.LinAlgError("the solver failed because the input matrix is singular")
    return x.squeeze(-1) if vector else x
