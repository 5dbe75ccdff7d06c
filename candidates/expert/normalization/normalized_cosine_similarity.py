"""Cosine similarity of normalised slices in one pass: five sums over each pair of slices say all.

These are the powers of both whose roots are the p-norms, the squares of both, and the products. Dividing a slice by a
number divides its sums. Where there are too few slices to fill a GPU, each is cut into parts, and a second launch adds
the parts up.
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
def reduced(total, KIND: tl.constexpr):
    return tl.max(total, axis=1) if KIND == 0 else tl.sum(total, axis=1)


@triton.jit
def similarity(powers1, powers2, squares1, squares2, products, p, eps_norm, eps_similarity, KIND: tl.constexpr):
    norm1, norm2 = powers1, powers2
    if KIND == 2:
        norm1, norm2 = tl.sqrt(powers1), tl.sqrt(powers2)
    if KIND == 3:
        norm1, norm2 = tl.exp2(tl.log2(powers1) / p), tl.exp2(tl.log2(powers2) / p)
    norm1, norm2 = tl.maximum(norm1, eps_norm), tl.maximum(norm2, eps_norm)
    length1 = tl.maximum(tl.sqrt(squares1) / norm1, eps_similarity)
    length2 = tl.maximum(tl.sqrt(squares2) / norm2, eps_similarity)
    return products / (norm1 * length1) / (norm2 * length2)


@triton.jit
def sums_kernel(
    x1_ptr, x2_ptr, y_ptr, slices, N, inner, part, p, eps_norm, eps_similarity,
    KIND: tl.constexpr, FINAL: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """Over elements i * part to (i + 1) * part of slices: if FINAL similarities, else sums [5, parts, slices]."""
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    base = (row // inner * N * inner + row % inner)[:, None]
    powers1 = tl.zeros((ROWS, COLUMNS), tl.float32)
    powers2, squares1, squares2, products = powers1, powers1, powers1, powers1
    first = tl.program_id(1) * part
    for start in range(first, tl.minimum(first + part, N), COLUMNS):
        column = (start + tl.arange(0, COLUMNS))[None, :]
        inside = (row < slices)[:, None] & (column < N)
        offsets = base + column.to(tl.int64) * inner
        x1 = tl.load(x1_ptr + offsets, mask=inside, other=0.0).to(tl.float32)
        x2 = tl.load(x2_ptr + offsets, mask=inside, other=0.0).to(tl.float32)
        if KIND != 2:
            powers1 = combined(powers1, power(x1, p, KIND), KIND)
            powers2 = combined(powers2, power(x2, p, KIND), KIND)
        squares1 += x1 * x1
        squares2 += x2 * x2
        products += x1 * x2
    s1, s2, s12 = tl.sum(squares1, axis=1), tl.sum(squares2, axis=1), tl.sum(products, axis=1)
    p1, p2 = s1, s2
    if KIND != 2:
        p1, p2 = reduced(powers1, KIND), reduced(powers2, KIND)
    if FINAL:
        y = similarity(p1, p2, s1, s2, s12, p, eps_norm, eps_similarity, KIND)
        tl.store(y_ptr + row, y.to(y_ptr.dtype.element_ty), mask=row < slices)
    else:
        step = tl.num_programs(1).to(tl.int64) * slices
        y_ptrs = y_ptr + tl.program_id(1).to(tl.int64) * slices + row
        tl.store(y_ptrs, p1, mask=row < slices)
        tl.store(y_ptrs + step, p2, mask=row < slices)
        tl.store(y_ptrs + 2 * step, s1, mask=row < slices)
        tl.store(y_ptrs + 3 * step, s2, mask=row < slices)
        tl.store(y_ptrs + 4 * step, s12, mask=row < slices)


@triton.jit
def parts_kernel(
    sums_ptr, y_ptr, slices, parts, p, eps_norm, eps_similarity,
    KIND: tl.constexpr, ROWS: tl.constexpr, PARTS: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    part = tl.arange(0, PARTS)[None, :]
    inside = (row < slices)[:, None] & (part < parts)
    ptrs = sums_ptr + part.to(tl.int64) * slices + row[:, None]
    step = parts.to(tl.int64) * slices
    p1 = reduced(tl.load(ptrs, mask=inside, other=0.0), KIND)
    p2 = reduced(tl.load(ptrs + step, mask=inside, other=0.0), KIND)
    s1 = tl.sum(tl.load(ptrs + 2 * step, mask=inside, other=0.0), axis=1)
    s2 = tl.sum(tl.load(ptrs + 3 * step, mask=inside, other=0.0), axis=1)
    s12 = tl.sum(tl.load(ptrs + 4 * step, mask=inside, other=0.0), axis=1)
    y = similarity(p1, p2, s1, s2, s12, p, eps_norm, eps_similarity, KIND)
    tl.store(y_ptr + row, y.to(y_ptr.dtype.element_ty), mask=row < slices)


def normalized_cosine_similarity(x1, x2, dim=1, eps_similarity=1e-8, p_norm=2, eps_norm=1e-12):
    x1, x2 = x1.contiguous(), x2.contiguous()
    dim %= x1.dim()
    N, inner = x1.shape[dim], x1.shape[dim + 1 :].numel()
    y = torch.empty(x1.shape[:dim] + x1.shape[dim + 1 :], dtype=x1.dtype, device=x1.device)
    slices = y.numel()
    if not slices:
        return y
    kind = {1: 1, 2: 2, float("inf"): 0}.get(p_norm, 3)
    size = 2048
    columns = size if inner == 1 else max(32, size // triton.next_power_of_2(inner))
    columns = min(triton.next_power_of_2(max(N, 1)), columns)
    rows = min(triton.next_power_of_2(slices), size // columns)
    groups = triton.cdiv(slices, rows)
    parts = max(1, min(triton.cdiv(N, 4 * columns), 1024 // groups))
    part = triton.cdiv(triton.cdiv(N, parts), columns) * columns
    parts = max(1, triton.cdiv(N, max(part, 1)))
    numbers = float(p_norm), float(eps_norm), float(eps_similarity), kind
    sums = y if parts == 1 else torch.empty((5, parts, slices), dtype=torch.float32, device=y.device)
    sums_kernel[(groups, parts)](x1, x2, sums, slices, N, inner, part, *numbers, parts == 1, rows, columns, num_warps=8)
    if parts > 1:
        width = triton.next_power_of_2(parts)
        rows = min(triton.next_power_of_2(slices), max(1, 2048 // width))
        parts_kernel[(triton.cdiv(slices, rows),)](sums, y, slices, parts, *numbers, rows, width, num_warps=8)
    return y
