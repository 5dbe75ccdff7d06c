"""index_select on (outer, length, inner): a tile takes whole inner runs of several picked slices, or parts of one."""

import torch
import triton
import triton.language as tl


@triton.jit
def select_kernel(
    x_ptr, index_ptr, index_stride, y_ptr, rows, length, K, inner, ROWS: tl.constexpr, COLUMNS: tl.constexpr
):
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    picked = tl.load(index_ptr + row % K * index_stride, mask=row < rows, other=0)
    source = (row // K * length + picked) * inner
    column = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    inside = (row < rows)[:, None] & (column < inner)[None, :]
    x = tl.load(x_ptr + source[:, None] + column[None, :], mask=inside)
    tl.store(y_ptr + row[:, None] * inner + column[None, :], x, mask=inside)


def index_select(input, dim, index):
    x = input.contiguous()
    dim %= x.dim()
    K = index.numel()
    inner = x.shape[dim + 1 :].numel()
    y = torch.empty((*x.shape[:dim], K, *x.shape[dim + 1 :]), dtype=x.dtype, device=x.device)
    if y.numel():
        total = y.numel() // inner
        columns = min(triton.next_power_of_2(inner), 2048)
        rows = min(triton.next_power_of_2(total), 2048 // columns)
        grid = (triton.cdiv(total, rows), triton.cdiv(inner, columns))
        select_kernel[grid](x, index, index.stride(0), y, total, x.shape[dim], K, inner, rows, columns)
    return y
