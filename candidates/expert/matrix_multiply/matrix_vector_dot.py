"""y = alpha * A @ x + beta * y in place, then the dot product of y and x.

A program takes a few rows of A, writes their elements of y and keeps its part of the dot product; a second launch adds
these parts up, always in the same order.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def rows_kernel(
    a_ptr, x_ptr, y_ptr, part_ptr, N, alpha, beta, a_m, a_k, x_k, y_m, ROWS: tl.constexpr, COLUMNS: tl.constexpr
):
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    total = tl.zeros((ROWS, COLUMNS), tl.float32)
    for start in range(0, N, COLUMNS):
        k = (start + tl.arange(0, COLUMNS)).to(tl.int64)
        inside = (row < N)[:, None] & (k < N)[None, :]
        a = tl.load(a_ptr + row[:, None] * a_m + k[None, :] * a_k, mask=inside, other=0.0).to(tl.float32)
        total += a * tl.load(x_ptr + k * x_k, mask=k < N, other=0.0).to(tl.float32)[None, :]
    y = tl.load(y_ptr + row * y_m, mask=row < N, other=0.0).to(tl.float32)
    y = alpha * tl.sum(total, axis=1) + beta * y
    tl.store(y_ptr + row * y_m, y.to(y_ptr.dtype.element_ty), mask=row < N)
    x = tl.load(x_ptr + row * x_k, mask=row < N, other=0.0).to(tl.float32)
    tl.store(part_ptr + tl.program_id(0), tl.sum(y * x, axis=0))


@triton.jit
def sum_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, n, BLOCK):
        at = start + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + at, mask=at < n, other=0.0)
    tl.store(y_ptr, tl.sum(total, axis=0).to(y_ptr.dtype.element_ty))


def matrix_vector_dot(A, x, y, alpha, beta):
    N = x.numel()
    rows, columns = (16, 256) if A.stride(1) == 1 else (128, 32)
    blocks = triton.cdiv(N, rows)
    parts = torch.empty((blocks,), dtype=torch.float32, device=A.device)
    result = torch.empty((), dtype=A.dtype, device=A.device)
    if N:
        rows_kernel[(blocks,)](
            A, x, y, parts, N, float(alpha), float(beta), *A.stride(), x.stride(0), y.stride(0), rows, columns
        )
    sum_kernel[(1,)](parts, result, blocks, 1024)
    return result
