"""index_select and comparison on (outer, length, inner): a tile takes whole inner runs of several picked slices, or
parts of one. `other` is broadcast by strides of 0.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def select_eq_kernel(
    x_ptr, index_ptr, index_stride, other_ptr, y_ptr, rows, length, K, inner, o_outer, o_k, o_inner, number,
    NUMBER: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    across = tl.cdiv(inner, COLUMNS)
    row = (tl.program_id(0) // across).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    column = (tl.program_id(0) % across).to(tl.int64) * COLUMNS + tl.arange(0, COLUMNS)
    picked = tl.load(index_ptr + row % K * index_stride, mask=row < rows, other=0)
    source = (row // K * length + picked) * inner
    inside = (row < rows)[:, None] & (column < inner)[None, :]
    x = tl.load(x_ptr + source[:, None] + column[None, :], mask=inside)
    if NUMBER:
        equal = x == number if x.dtype.is_int() else x.to(tl.float32) == number
    else:
        other_row = row // K * o_outer + row % K * o_k
        equal = x == tl.load(other_ptr + other_row[:, None] + column[None, :] * o_inner, mask=inside)
    tl.store(y_ptr + row[:, None] * inner + column[None, :], equal, mask=inside)


def fused_index_select_eq(input, dim, index, other, *, out=None):
    x = input.contiguous()
    dim %= x.dim()
    K, inner = index.numel(), x.shape[dim + 1 :].numel()
    shape = (*x.shape[:dim], K, *x.shape[dim + 1 :])
    direct = out is not None and out.is_contiguous()
    y = out if direct else torch.empty(shape, dtype=torch.bool, device=x.device)
    if y.numel():
        rows = y.numel() // inner
        number = not isinstance(other, torch.Tensor)
        other_ = x if number else other.expand(shape).reshape(rows // K, K, inner)
        strides = (0, 0, 0) if number else other_.stride()
        value = 0 if not number else other if not x.dtype.is_floating_point else float(other)
        columns = min(triton.next_power_of_2(inner), 2048)
        height = min(triton.next_power_of_2(rows), 2048 // columns)
        select_eq_kernel[(triton.cdiv(rows, height) * triton.cdiv(inner, columns),)](
            x, index, index.stride(0), other_, y, rows, x.shape[dim], K, inner, *strides, value, number,
            height, columns,
        )  # fmt: skip
    return y if direct or out is None else out.copy_(y)
