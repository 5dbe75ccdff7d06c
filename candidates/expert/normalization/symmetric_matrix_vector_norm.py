"""Norm of a scaled product of a symmetric matrix and a vector.

A program takes a few rows, reads them once, and leaves the sum (or maximum) of the powers of its elements; a second
launch adds the programs up and takes the root. Rows and columns being the same, rows are what is contiguous.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def product_kernel(
    a_ptr, x_ptr, partial_ptr, N, stride_m, stride_n, stride_x, alpha, beta, p,
    KIND: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """KIND is 1 or 2 for that p, 0 for infinity, 3 for any other."""
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    total = tl.zeros((ROWS, COLUMNS), tl.float32)
    for start in range(0, N, COLUMNS):
        column = start + tl.arange(0, COLUMNS)
        inside = (row < N)[:, None] & (column < N)[None, :]
        a = tl.load(a_ptr + row[:, None] * stride_m + column[None, :].to(tl.int64) * stride_n, mask=inside, other=0.0)
        x = tl.load(x_ptr + column.to(tl.int64) * stride_x, mask=column < N, other=0.0)
        total += a * x[None, :]
    y = alpha * tl.sum(total, axis=1)
    y = tl.abs(y + beta * y)
    if KIND == 2:
        y = y * y
    if KIND == 3:
        y = tl.exp2(p * tl.log2(y))  # 0 gives exp2(-inf) = 0
    y = tl.max(y, axis=0) if KIND == 0 else tl.sum(y, axis=0)
    tl.store(partial_ptr + tl.program_id(0), y)


@triton.jit
def norm_kernel(partial_ptr, y_ptr, programs, p, KIND: tl.constexpr, BLOCK: tl.constexpr):
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, programs, BLOCK):
        i = start + tl.arange(0, BLOCK)
        new = tl.load(partial_ptr + i, mask=i < programs, other=0.0)
        total = tl.maximum(total, new) if KIND == 0 else total + new
    y = tl.max(total, axis=0) if KIND == 0 else tl.sum(total, axis=0)
    if KIND == 2:
        y = tl.sqrt(y)
    if KIND == 3:
        y = tl.exp2(tl.log2(y) / p)
    tl.store(y_ptr, y)


def symmetric_matrix_vector_norm(A, x, alpha, beta, p=2.0):
    N = x.shape[0]
    stride_n, stride_m = sorted(A.stride())
    kind = {1: 1, 2: 2, float("inf"): 0}.get(p, 3)
    columns = min(triton.next_power_of_2(max(N, 1)), 1024)
    rows = max(1, min(triton.next_power_of_2(max(N, 1)), 4096 // columns))
    programs = triton.cdiv(N, rows)
    partial = torch.empty((programs,), dtype=torch.float32, device=A.device)
    y = torch.empty((), dtype=A.dtype, device=A.device)
    if N:
        product_kernel[(programs,)](
            A, x, partial, N, stride_m, stride_n, x.stride(0), float(alpha), float(beta), float(p),
            kind, rows, columns, num_warps=8,
        )  # fmt: skip
    block = min(triton.next_power_of_2(max(programs, 1)), 2048)
    norm_kernel[(1,)](partial, y, programs, float(p), kind, block, num_warps=4)
    return y
