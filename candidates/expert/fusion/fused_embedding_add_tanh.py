"""Rows picked from a table, plus another tensor, tanh: one pass. With max_norm the rows that are picked come first.

They are marked, and then every marked row is measured and scaled by one program: so a row that is picked twice is
scaled once. `other` is broadcast by strides.
"""

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def mark_kernel(index_ptr, marks_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    index = tl.load(index_ptr + offsets, mask=offsets < n, other=0)
    tl.store(marks_ptr + index, 1, mask=offsets < n)


@triton.jit
def renorm_kernel(
    weight_ptr, marks_ptr, V, D, w_v, w_d, max_norm, norm_type,
    NORM: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    marked = tl.load(marks_ptr + row, mask=row < V, other=0) != 0
    norm = tl.zeros((ROWS, COLUMNS), tl.float32)
    for start in range(0, D, COLUMNS):
        column = start + tl.arange(0, COLUMNS).to(tl.int64)
        inside = marked[:, None] & (column < D)[None, :]
        w = tl.abs(tl.load(weight_ptr + row[:, None] * w_v + column[None, :] * w_d, mask=inside, other=0.0))
        if NORM == "inf":
            norm = tl.maximum(norm, w)
        elif NORM == "1":
            norm += w
        elif NORM == "2":
            norm += w * w
        else:
            norm += libdevice.pow(w, norm_type + tl.zeros_like(w))
    if NORM == "inf":
        norm = tl.max(norm, axis=1)
    else:
        norm = tl.sum(norm, axis=1)
        if NORM == "2":
            norm = tl.sqrt(norm)
        elif NORM == "p":
            norm = libdevice.pow(norm, 1.0 / norm_type + tl.zeros_like(norm))
    scaled = marked & (norm > max_norm)
    scale = (max_norm / (norm + 1e-7))[:, None]
    for start in range(0, D, COLUMNS):
        column = start + tl.arange(0, COLUMNS).to(tl.int64)
        inside = scaled[:, None] & (column < D)[None, :]
        w_ptrs = weight_ptr + row[:, None] * w_v + column[None, :] * w_d
        tl.store(w_ptrs, tl.load(w_ptrs, mask=inside, other=0.0) * scale, mask=inside)


@triton.jit
def add_tanh_kernel(
    index_ptr, weight_ptr, other_ptr, y_ptr, rows, D, w_v, w_d, o_m, o_d, ROWS: tl.constexpr, COLUMNS: tl.constexpr
):
    across = tl.cdiv(D, COLUMNS)
    row = (tl.program_id(0) // across).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    column = (tl.program_id(0) % across).to(tl.int64) * COLUMNS + tl.arange(0, COLUMNS)
    inside = (row < rows)[:, None] & (column < D)[None, :]
    index = tl.load(index_ptr + row, mask=row < rows, other=0)
    x = tl.load(weight_ptr + index[:, None] * w_v + column[None, :] * w_d, mask=inside, other=0.0)
    x += tl.load(other_ptr + row[:, None] * o_m + column[None, :] * o_d, mask=inside, other=0.0)
    tl.store(y_ptr + row[:, None] * D + column[None, :], libdevice.tanh(x), mask=inside)


def renormalise(index, weight, max_norm, norm_type):
    V, D = weight.shape
    marks = torch.zeros(V, dtype=torch.int8, device=weight.device)
    mark_kernel[(triton.cdiv(index.numel(), 1024),)](index, marks, index.numel(), BLOCK=1024)
    columns = min(triton.next_power_of_2(D), 1024)
    rows = min(triton.next_power_of_2(V), 2048 // columns)
    norm = {float("inf"): "inf", 1.0: "1", 2.0: "2"}.get(float(norm_type), "p")
    renorm_kernel[(triton.cdiv(V, rows),)](
        weight, marks, V, D, *weight.stride(), float(max_norm), float(norm_type), norm, rows, columns
    )


def fused_embedding_add_tanh(
    input_indices, weight, other, *,
    padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, sparse=False, out=None,
):  # fmt: skip
    index, D = input_indices.contiguous(), weight.shape[1]
    shape, rows = (*index.shape, D), index.numel()
    direct = out is not None and out.is_contiguous()
    y = out if direct else torch.empty(shape, dtype=weight.dtype, device=weight.device)
    if y.numel():
        if max_norm is not None:
            renormalise(index, weight, max_norm, norm_type)
        other = other.expand(shape).reshape(rows, D)
        columns = min(triton.next_power_of_2(D), 2048)
        height = min(triton.next_power_of_2(rows), 2048 // columns)
        add_tanh_kernel[(triton.cdiv(rows, height) * triton.cdiv(D, columns),)](
            index, weight, other, y, rows, D, *weight.stride(), *other.stride(), height, columns
        )
    return y if direct or out is None else out.copy_(y)
