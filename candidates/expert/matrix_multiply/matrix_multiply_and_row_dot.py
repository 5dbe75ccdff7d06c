"""The dot product of the first two rows of alpha * A @ B + beta * C.

Only two rows are needed, so B is read once and nothing is a matrix product: a program takes some columns and a part of
the sum over k. A second launch adds the parts up, adds C and multiplies the rows; a third adds what its programs found.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def rows_kernel(
    a_ptr, b_ptr, sums_ptr, K, P, part, a_n, a_k, b_k, b_p, BK: tl.constexpr, BP: tl.constexpr
):
    """sums[i, r, p] is the i-th part of (A @ B)[r, p]."""
    p = tl.program_id(0).to(tl.int64) * BP + tl.arange(0, BP)
    first = tl.program_id(1) * part
    last = tl.minimum(first + part, K)
    zero = tl.zeros((BK, BP), tl.float32)
    one = tl.zeros((BK, BP), tl.float32)
    for start in range(first, last, BK):
        k = (start + tl.arange(0, BK)).to(tl.int64)
        b = tl.load(b_ptr + k[:, None] * b_k + p[None, :] * b_p, mask=(k < last)[:, None] & (p < P)[None, :], other=0.0)
        zero += tl.load(a_ptr + k * a_k, mask=k < last, other=0.0).to(tl.float32)[:, None] * b
        one += tl.load(a_ptr + a_n + k * a_k, mask=k < last, other=0.0).to(tl.float32)[:, None] * b
    sums_ptr += tl.program_id(1).to(tl.int64) * 2 * P
    tl.store(sums_ptr + p, tl.sum(zero, axis=0), mask=p < P)
    tl.store(sums_ptr + P + p, tl.sum(one, axis=0), mask=p < P)


@triton.jit
def dot_kernel(sums_ptr, c_ptr, y_ptr, P, parts, alpha, beta, c_n, c_p, BP: tl.constexpr):
    """y[i] is the part of the dot product that BP columns make."""
    p = tl.program_id(0).to(tl.int64) * BP + tl.arange(0, BP)
    zero = tl.zeros((BP,), tl.float32)
    one = tl.zeros((BP,), tl.float32)
    for i in range(parts):
        zero += tl.load(sums_ptr + i.to(tl.int64) * 2 * P + p, mask=p < P, other=0.0)
        one += tl.load(sums_ptr + i.to(tl.int64) * 2 * P + P + p, mask=p < P, other=0.0)
    zero = alpha * zero + beta * tl.load(c_ptr + p * c_p, mask=p < P, other=0.0).to(tl.float32)
    one = alpha * one + beta * tl.load(c_ptr + c_n + p * c_p, mask=p < P, other=0.0).to(tl.float32)
    tl.store(y_ptr + tl.program_id(0), tl.sum(zero * one, axis=0))


@triton.jit
def sum_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, n, BLOCK):
        at = start + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + at, mask=at < n, other=0.0)
    tl.store(y_ptr, tl.sum(total, axis=0).to(y_ptr.dtype.element_ty))


def matrix_multiply_and_row_dot(A, B, alpha, beta, C):
    if A.shape[0] < 2:
        raise IndexError(f"A has {A.shape[0]} rows, wanted two or more")
    K, P = B.shape
    BK, BP = 32, 128
    columns = triton.cdiv(P, BP)
    parts = max(1, min(triton.cdiv(K, 4 * BK), triton.cdiv(512, max(columns, 1))))
    part = triton.cdiv(triton.cdiv(K, parts), BK) * BK
    sums = torch.empty((parts, 2, P), dtype=torch.float32, device=A.device)
    blocks = triton.cdiv(P, 256)
    dots = torch.empty((blocks,), dtype=torch.float32, device=A.device)
    if P:
        rows_kernel[(columns, parts)](A, B, sums, K, P, part, *A.stride(), *B.stride(), BK, BP, num_warps=4)
        dot_kernel[(blocks,)](sums, C, dots, P, parts, float(alpha), float(beta), *C.stride(), 256)
    y = torch.empty((), dtype=A.dtype, device=A.device)
    sum_kernel[(1,)](dots, y, blocks, 1024)
    return y
