"""Gather along a dimension and fill by a mask: what will be filled is not read from `input`.

A tile is several runs of the innermost dimension; only the number of a run is taken apart into indices. Along `dim`
`input` has stride zero there, and the index says how far to go. Elements are moved as integers of their width, so that
`value` is exactly what their type makes of it.
"""

import torch
import triton
import triton.language as tl

BITS = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


@triton.jit(do_not_specialize=["value"])
def gather_fill_kernel(
    x_ptr, index_ptr, mask_ptr, y_ptr, value, R, C, x_dim, x_c, i_c, m_c, y_c, lengths, x_strides, i_strides, m_strides,
    y_strides, AXES: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    blocks_c = tl.cdiv(C, COLUMNS)
    row = (tl.program_id(0) // blocks_c).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    column = ((tl.program_id(0) % blocks_c).to(tl.int64) * COLUMNS + tl.arange(0, COLUMNS))[None, :]
    x_row, i_row, m_row, y_row = row * 0, row * 0, row * 0, row * 0
    rest = row
    for axis in tl.static_range(AXES):
        at = rest % lengths[axis]
        x_row += at * x_strides[axis]
        i_row += at * i_strides[axis]
        m_row += at * m_strides[axis]
        y_row += at * y_strides[axis]
        rest = rest // lengths[axis]
    inside = (row < R)[:, None] & (column < C)
    index = tl.load(index_ptr + i_row[:, None] + column * i_c, mask=inside, other=0)
    filled = tl.load(mask_ptr + m_row[:, None] + column * m_c, mask=inside, other=1) != 0
    x = tl.load(x_ptr + x_row[:, None] + column * x_c + index * x_dim, mask=~filled, other=0)
    y = tl.where(filled, value.to(x.dtype), x)
    tl.store(y_ptr + y_row[:, None] + column * y_c, y, mask=inside)


def joined(shape, *strides):
    """Axes (length, *strides), innermost first; neighbours that lie in memory as one, in all tensors, are one."""
    axes = []
    for length, *steps in zip(reversed(shape), *(reversed(s) for s in strides), strict=True):
        if axes and all(step == axes[-1][0] * inner for step, inner in zip(steps, axes[-1][1:], strict=True)):
            axes[-1] = (axes[-1][0] * length, *axes[-1][1:])
        elif length > 1:
            axes.append((length, *steps))
    return axes or [(1, *[0 for _ in strides])]


def fused_gather_masked_fill(input, dim, index, mask, value, *, sparse_grad=False, out=None):
    if input.dim() != index.dim():
        raise RuntimeError(f"index has {index.dim()} dimensions, wanted as many as input, {input.dim()}")
    dim %= input.dim()
    y = torch.empty(index.shape, dtype=input.dtype, device=input.device) if out is None else out
    if index.numel():
        bits = BITS[input.element_size()]
        number = torch.tensor(value, dtype=input.dtype).view(bits).item()
        steps = [0 if d == dim else stride for d, stride in enumerate(input.stride())]
        mask = mask.expand(index.shape).view(torch.uint8)
        (C, *inner), *outer = joined(index.shape, steps, index.stride(), mask.stride(), y.stride())
        R = index.numel() // C
        columns = min(triton.next_power_of_2(C), 1024)
        rows = min(triton.next_power_of_2(R), 2048 // columns)
        lengths, *strides = zip(*outer, strict=True) if outer else ((), (), (), (), ())
        gather_fill_kernel[(triton.cdiv(R, rows) * triton.cdiv(C, columns),)](
            input.view(bits), index, mask, y.view(bits), number, R, C, input.stride(dim), *inner, lengths, *strides,
            len(outer), rows, columns, num_warps=8,
        )  # fmt: skip
    return y
