"""permute_copy: tiles that are contiguous both where they are read and where they are written.

A tile spans the innermost dimension of the result and the one that is innermost in memory of the input; the dimensions
that are left number the tiles. Where these two are short, or there is nothing to turn, blocks of the result gather what
they need.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def tile_kernel(
    x_ptr, y_ptr, R, C, x_r, x_c, y_r, lengths, x_strides, y_strides,
    AXES: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    blocks_r, blocks_c = tl.cdiv(R, ROWS), tl.cdiv(C, COLUMNS)
    tile = tl.program_id(0) % (blocks_r * blocks_c)
    row = (tile % blocks_r).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    column = (tile // blocks_r).to(tl.int64) * COLUMNS + tl.arange(0, COLUMNS)
    rest = (tl.program_id(0) // (blocks_r * blocks_c)).to(tl.int64)
    for axis in tl.static_range(AXES):
        x_ptr += rest % lengths[axis] * x_strides[axis]
        y_ptr += rest % lengths[axis] * y_strides[axis]
        rest = rest // lengths[axis]
    inside = (row < R)[:, None] & (column < C)[None, :]
    x = tl.load(x_ptr + row[:, None] * x_r + column[None, :] * x_c, mask=inside)
    tl.store(y_ptr + row[:, None] * y_r + column[None, :], x, mask=inside)


@triton.jit
def gather_kernel(x_ptr, y_ptr, n, lengths, strides, AXES: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    at = tl.zeros((BLOCK,), tl.int64)
    rest = offsets
    for axis in tl.static_range(AXES):
        at += rest % lengths[axis] * strides[axis]
        rest = rest // lengths[axis]
    tl.store(y_ptr + offsets, tl.load(x_ptr + at, mask=offsets < n), mask=offsets < n)


def joined(x):
    """Axes (length, stride) of x, innermost first; neighbours that lie in memory as one are one."""
    axes = []
    for length, stride in zip(reversed(x.shape), reversed(x.stride()), strict=True):
        if axes and stride == axes[-1][0] * axes[-1][1]:
            axes[-1] = (axes[-1][0] * length, axes[-1][1])
        elif length > 1:
            axes.append((length, stride))
    return axes


def permute_copy(input, dims):
    x = input.permute(dims)
    y = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    n = y.numel()
    if not n:
        return y
    if x.dtype == torch.bool:
        x, target = x.view(torch.uint8), y.view(torch.uint8)
    else:
        target = y
    axes = joined(x)
    dense = [(length, stride, torch.Size(m for m, _ in axes[:i]).numel()) for i, (length, stride) in enumerate(axes)]
    turned = min(dense[1:], key=lambda axis: axis[1], default=None)
    if turned is None or turned[0] * dense[0][0] < 512 or (dense[0][1] < turned[1] and dense[0][0] < 32):
        block, warps = 1024, 8 if y.element_size() > 2 else 4  # 16 bytes a thread
        gather_kernel[(triton.cdiv(n, block),)](
            x, target, n, tuple(m for m, _ in axes), tuple(s for _, s in axes), len(axes), block, num_warps=warps
        )
        return y
    C, x_c, _ = dense[0]
    R, x_r, y_r = turned
    others = [axis for axis in dense[1:] if axis is not turned]
    columns = min(triton.next_power_of_2(C), 64 if x_c > x_r else 1024)
    rows = min(triton.next_power_of_2(R), 4096 // columns)
    grid = triton.cdiv(R, rows) * triton.cdiv(C, columns) * torch.Size(m for m, _, _ in others).numel()
    lengths, x_strides, y_strides = zip(*others, strict=True) if others else ((), (), ())
    tile_kernel[(grid,)](
        x, target, R, C, x_r, x_c, y_r, lengths, x_strides, y_strides, len(others), rows, columns, num_warps=8
    )
    return y
