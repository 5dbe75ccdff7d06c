"""where(cond, input.expand(target_sizes), other): broadcasting by strides of zero, so that nothing is laid out.

Dimensions that lie in memory as one, in all three tensors, are joined first. A tile is several runs of the innermost
dimension that is left; only the number of a run is taken apart into indices. What is not chosen is not read.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def where_kernel(
    x_ptr, c_ptr, o_ptr, y_ptr, R, C, x_c, c_c, o_c, lengths, x_strides, c_strides, o_strides,
    AXES: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    blocks_c = tl.cdiv(C, COLUMNS)
    row = (tl.program_id(0) // blocks_c).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    column = (tl.program_id(0) % blocks_c).to(tl.int64) * COLUMNS + tl.arange(0, COLUMNS)
    x_row, c_row, o_row = row * 0, row * 0, row * 0
    rest = row
    for axis in tl.static_range(AXES):
        i = rest % lengths[axis]
        x_row += i * x_strides[axis]
        c_row += i * c_strides[axis]
        o_row += i * o_strides[axis]
        rest = rest // lengths[axis]
    inside = (row < R)[:, None] & (column < C)[None, :]
    chosen = tl.load(c_ptr + c_row[:, None] + (column * c_c)[None, :], mask=inside, other=0) != 0
    x = tl.load(x_ptr + x_row[:, None] + (column * x_c)[None, :], mask=inside & chosen)
    other = tl.load(o_ptr + o_row[:, None] + (column * o_c)[None, :], mask=inside & (chosen == 0))
    tl.store(y_ptr + row[:, None] * C + column[None, :], tl.where(chosen, x, other), mask=inside)


def joined(shape, *strides):
    """Axes (length, *strides), innermost first; neighbours that lie in memory as one, in all tensors, are one."""
    axes = []
    for length, *steps in zip(reversed(shape), *(reversed(s) for s in strides), strict=True):
        if axes and all(step == axes[-1][0] * inner for step, inner in zip(steps, axes[-1][1:], strict=True)):
            axes[-1] = (axes[-1][0] * length, *axes[-1][1:])
        elif length > 1:
            axes.append((length, *steps))
    return axes or [(1, *[0 for _ in strides])]


def expand_where(input, target_sizes, cond, other):
    x = input.expand(target_sizes)
    shape = torch.broadcast_shapes(x.shape, cond.shape, other.shape)
    x, c, o = x.expand(shape), cond.view(torch.uint8).expand(shape), other.expand(shape)
    y = torch.empty(shape, dtype=x.dtype, device=x.device)
    if y.numel():
        (C, *inner), *outer = joined(shape, x.stride(), c.stride(), o.stride())
        R = y.numel() // C
        columns = min(triton.next_power_of_2(C), 2048)
        rows = min(triton.next_power_of_2(R), 2048 // columns)
        lengths, *strides = zip(*outer, strict=True) if outer else ((), (), (), ())
        where_kernel[(triton.cdiv(R, rows) * triton.cdiv(C, columns),)](
            x, c, o, y, R, C, *inner, lengths, *strides, len(outer), rows, columns
        )
    return y
