"""exp of a tiled tensor: every element is read once, its exponential computed once and written to all its places.

Axes are joined where that changes nothing: (times, length) with its right neighbour where the latter is not repeated,
or where its own length is 1. What is left is mostly one axis, and an element's first place then needs no arithmetic.
"""

import math

import torch
import triton
import triton.language as tl


@triton.jit
def tile_exp_kernel(x_ptr, y_ptr, n, repeats, part, lengths, times, AXES: tl.constexpr, BLOCK: tl.constexpr):
    """Writes the repeats number part * p to part * (p + 1) of a block; axes are given innermost first."""
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    y = tl.exp(tl.load(x_ptr + offsets, mask=offsets < n).to(tl.float32)).to(y_ptr.dtype.element_ty)
    if AXES == 1:
        first_place = y_ptr + offsets
    else:
        first_place = y_ptr + tl.zeros((BLOCK,), tl.int64)
        rest = offsets
        stride = tl.full((), 1, tl.int64)
        for axis in tl.static_range(AXES):
            first_place += rest % lengths[axis] * stride
            rest = rest // lengths[axis]
            stride *= lengths[axis] * times[axis]
    first = tl.program_id(1) * part
    for repeat in range(first, tl.minimum(first + part, repeats)):
        turn = repeat
        jump = tl.full((), 0, tl.int64)
        stride = tl.full((), 1, tl.int64)
        for axis in tl.static_range(AXES):
            stride *= lengths[axis]
            jump += turn % times[axis] * stride
            turn = turn // times[axis]
            stride *= times[axis]
        tl.store(first_place + jump, y, mask=offsets < n)


def joined(lengths, times):
    """Axes as (length, times), innermost first."""
    axes = [(1, 1)]
    for length, count in zip(reversed(lengths), reversed(times), strict=True):
        inner_length, inner_times = axes[-1]
        if inner_times == 1:
            axes[-1] = (length * inner_length, count)
        elif length == 1:
            axes[-1] = (inner_length, count * inner_times)
        else:
            axes.append((length, count))
    return axes


def fused_tile_exp(input, dims, *, out=None):
    rank = max(input.dim(), len(dims))
    lengths = [1] * (rank - input.dim()) + list(input.shape)
    times = [1] * (rank - len(dims)) + list(dims)
    shape = [length * count for length, count in zip(lengths, times, strict=True)]
    direct = out is not None and out.is_contiguous()
    y = out if direct else torch.empty(shape, dtype=input.dtype, device=input.device)
    if y.numel():
        axes = joined(lengths, times)
        n, repeats = input.numel(), math.prod(times)
        block, warps = 1024, 8 if y.element_size() > 2 else 4  # 16 bytes a thread
        blocks = triton.cdiv(n, block)
        part = triton.cdiv(repeats, min(triton.cdiv(repeats, 4), max(1, 2048 // blocks)))
        tile_exp_kernel[(blocks, triton.cdiv(repeats, part))](
            input.contiguous(), y, n, repeats, part, tuple(length for length, _ in axes),
            tuple(count for _, count in axes), AXES=len(axes), BLOCK=block, num_warps=warps,
        )  # fmt: skip
    return y if direct or out is None else out.copy_(y)
