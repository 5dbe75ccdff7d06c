"""Distances between rows, then their normalisation along any dimension; distances stay in float32 between the launches.

The first launch reads both tensors once. In the second, every program computes the norms of its slices, the distances
being small and in L2, and writes a part of them: a few long slices are then still divided by many programs.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def power(x, p, KIND: tl.constexpr):
    """|x| ** p, or |x| for p = infinity; KIND is 1 or 2 for that p, 0 for infinity, 3 for any other."""
    x = tl.abs(x)
    if KIND == 2:
        x = x * x
    if KIND == 3:
        x = tl.exp2(p * tl.log2(x))  # 0 gives exp2(-inf) = 0
    return x


@triton.jit
def combined(total, new, KIND: tl.constexpr):
    return tl.maximum(total, new) if KIND == 0 else total + new


@triton.jit
def root(total, p, KIND: tl.constexpr):
    """The norms of the rows whose powers `total` holds."""
    norm = tl.max(total, axis=1) if KIND == 0 else tl.sum(total, axis=1)
    if KIND == 2:
        norm = tl.sqrt(norm)
    if KIND == 3:
        norm = tl.exp2(tl.log2(norm) / p)
    return norm


@triton.jit
def distance_kernel(x1_ptr, x2_ptr, y_ptr, M, D, p, eps, KIND: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    total = tl.zeros((ROWS, COLUMNS), tl.float32)
    for start in range(0, D, COLUMNS):
        column = start + tl.arange(0, COLUMNS)
        inside = (row < M)[:, None] & (column < D)[None, :]
        offsets = row[:, None] * D + column[None, :]
        x1 = tl.load(x1_ptr + offsets, mask=inside, other=0.0).to(tl.float32)
        x2 = tl.load(x2_ptr + offsets, mask=inside, other=0.0).to(tl.float32)
        total = combined(total, power(x1 - x2, p, KIND), KIND)
    tl.store(y_ptr + row, root(total, p, KIND) + eps, mask=row < M)


@triton.jit
def normalize_kernel(
    x_ptr, y_ptr, slices, N, inner, part, p, eps, KIND: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr
):
    """Divide the elements i * part to (i + 1) * part of slices of length N by the norms of the slices."""
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    base = (row // inner * N * inner + row % inner)[:, None]
    total = tl.zeros((ROWS, COLUMNS), tl.float32)
    for start in range(0, N, COLUMNS):
        column = (start + tl.arange(0, COLUMNS))[None, :]
        inside = (row < slices)[:, None] & (column < N)
        x = tl.load(x_ptr + base + column.to(tl.int64) * inner, mask=inside, other=0.0)
        total = combined(total, power(x, p, KIND), KIND)
    norm = tl.maximum(root(total, p, KIND), eps)[:, None]
    first = tl.program_id(1) * part
    for start in range(first, tl.minimum(first + part, N), COLUMNS):
        column = (start + tl.arange(0, COLUMNS))[None, :]
        inside = (row < slices)[:, None] & (column < N)
        offsets = base + column.to(tl.int64) * inner
        y = tl.load(x_ptr + offsets, mask=inside, other=0.0) / norm
        tl.store(y_ptr + offsets, y.to(y_ptr.dtype.element_ty), mask=inside)


def normalize_pairwise_distance(
    x1, x2, p_distance=2.0, eps_distance=1e-6, keepdim=False, p_norm=2, dim_norm=1, eps_norm=1e-12
):
    x1, x2 = x1.contiguous(), x2.contiguous()
    D, shape = x1.shape[-1], x1.shape[:-1]
    y = torch.empty((*shape, 1) if keepdim else shape, dtype=x1.dtype, device=x1.device)
    M = y.numel()
    if not M:
        return y
    kinds = [{1: 1, 2: 2, float("inf"): 0}.get(p, 3) for p in (p_distance, p_norm)]
    distance = torch.empty(y.shape, dtype=torch.float32, device=y.device)
    columns = min(triton.next_power_of_2(max(D, 1)), 4096)
    rows = min(triton.next_power_of_2(M), 4096 // columns)
    distance_kernel[(triton.cdiv(M, rows),)](
        x1, x2, distance, M, D, float(p_distance), float(eps_distance), kinds[0], rows, columns, num_warps=8
    )
    dim = dim_norm % y.dim()
    N, inner = y.shape[dim], y.shape[dim + 1 :].numel()
    slices = M // N
    columns = min(triton.next_power_of_2(N), 4096 if inner == 1 else 64)
    rows = min(triton.next_power_of_2(slices), 4096 // columns)
    groups = triton.cdiv(slices, rows)
    parts = max(1, min(triton.cdiv(N, columns), 256 // groups))
    part = triton.cdiv(triton.cdiv(N, parts), columns) * columns
    normalize_kernel[(groups, triton.cdiv(N, part))](
        distance, y, slices, N, inner, part, float(p_norm), float(eps_norm), kinds[1], rows, columns, num_warps=8
    )
    return y
