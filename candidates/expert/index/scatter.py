"""scatter: a flat copy of `input`, then one store for every element of `index`.

A tile is several runs of the innermost dimension; only the number of a run is taken apart into indices. Along `dim` the
result has stride zero there, and the index says how far to go.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def copy_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + offsets, tl.load(x_ptr + offsets, mask=offsets < n), mask=offsets < n)


@triton.jit
def scatter_kernel(
    index_ptr, src_ptr, y_ptr, R, C, y_dim, i_c, s_c, y_c, lengths, i_strides, s_strides, y_strides,
    AXES: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    blocks_c = tl.cdiv(C, COLUMNS)
    row = (tl.program_id(0) // blocks_c).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    column = (tl.program_id(0) % blocks_c).to(tl.int64) * COLUMNS + tl.arange(0, COLUMNS)
    i_row, s_row, y_row = row * 0, row * 0, row * 0
    rest = row
    for axis in tl.static_range(AXES):
        at = rest % lengths[axis]
        i_row += at * i_strides[axis]
        s_row += at * s_strides[axis]
        y_row += at * y_strides[axis]
        rest = rest // lengths[axis]
    inside = (row < R)[:, None] & (column < C)[None, :]
    index = tl.load(index_ptr + i_row[:, None] + (column * i_c)[None, :], mask=inside, other=0)
    src = tl.load(src_ptr + s_row[:, None] + (column * s_c)[None, :], mask=inside)
    tl.store(y_ptr + y_row[:, None] + (column * y_c)[None, :] + index * y_dim, src, mask=inside)


def joined(shape, *strides):
    """Axes (length, *strides), innermost first; neighbours that lie in memory as one, in all tensors, are one."""
    axes = []
    for length, *steps in zip(reversed(shape), *(reversed(s) for s in strides), strict=True):
        if axes and all(step == axes[-1][0] * inner for step, inner in zip(steps, axes[-1][1:], strict=True)):
            axes[-1] = (axes[-1][0] * length, *axes[-1][1:])
        elif length > 1:
            axes.append((length, *steps))
    return axes or [(1, *[0 for _ in strides])]


def scatter(input, dim, index, src):
    x = input.contiguous()
    y = torch.empty_like(x)
    n = x.numel()
    if n:
        block, warps = 1024, 8 if y.element_size() > 2 else 4  # 16 bytes a thread
        copy_kernel[(triton.cdiv(n, block),)](x, y, n, block, num_warps=warps)
    if index.numel():
        dim %= x.dim()
        strides = [0 if d == dim else stride for d, stride in enumerate(y.stride())]
        (C, *inner), *outer = joined(index.shape, index.stride(), src.stride(), strides)
        R = index.numel() // C
        columns = min(triton.next_power_of_2(C), 2048)
        rows = min(triton.next_power_of_2(R), 2048 // columns)
        lengths, *strides = zip(*outer, strict=True) if outer else ((), (), (), ())
        scatter_kernel[(triton.cdiv(R, rows) * triton.cdiv(C, columns),)](
            index, src, y, R, C, y.stride(dim), *inner, lengths, *strides, len(outer), rows, columns,
            num_warps=8 if rows > columns else 4,
        )  # fmt: skip
    return y
