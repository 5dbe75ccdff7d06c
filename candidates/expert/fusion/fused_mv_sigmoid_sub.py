"""sigmoid(matrix times vector) - alpha * other, one read of the matrix: a program takes a few rows."""

import torch
import triton
import triton.language as tl


@triton.jit
def mv_sigmoid_sub_kernel(
    a_ptr, x_ptr, other_ptr, y_ptr, N, K, a_n, a_k, x_k, other_n, number, alpha,
    NUMBER: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    total = tl.zeros((ROWS, COLUMNS), tl.float32)
    for start in range(0, K, COLUMNS):
        k = (start + tl.arange(0, COLUMNS)).to(tl.int64)
        inside = (row < N)[:, None] & (k < K)[None, :]
        a = tl.load(a_ptr + row[:, None] * a_n + k[None, :] * a_k, mask=inside, other=0.0).to(tl.float32)
        total += a * tl.load(x_ptr + k * x_k, mask=k < K, other=0.0).to(tl.float32)[None, :]
    z = tl.sum(total, axis=1)
    other = number if NUMBER else tl.load(other_ptr + row * other_n, mask=row < N).to(tl.float32)
    y = 1.0 / (1.0 + tl.exp(-z)) - alpha * other
    tl.store(y_ptr + row, y.to(y_ptr.dtype.element_ty), mask=row < N)


def fused_mv_sigmoid_sub(input, vec, other, alpha=1, *, out=None):
    N, K = input.shape
    if vec.shape != (K,):
        raise RuntimeError(f"cannot multiply a matrix {list(input.shape)} by a vector {list(vec.shape)}")
    number = not isinstance(other, torch.Tensor)
    other_ = vec if number else other.expand(N)
    direct = out is not None and out.is_contiguous()
    y = out if direct else torch.empty(N, dtype=input.dtype, device=input.device)
    if N:
        columns = min(triton.next_power_of_2(max(K, 1)), 512 if input.stride(1) == 1 else 32)
        rows = (2048 if N <= 4096 else 8192) // columns
        mv_sigmoid_sub_kernel[(triton.cdiv(N, rows),)](
            input, vec, other_, y, N, K, *input.stride(), vec.stride(0), other_.stride(0),
            float(other) if number else 0.0, float(alpha), number, rows, columns, num_warps=8,
        )  # fmt: skip
    return y if direct or out is None else out.copy_(y)
