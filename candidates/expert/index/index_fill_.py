"""index_fill_: only the named slices are written, where they lie, whatever the strides.

A tile is indices by places in a slice; it is long in the direction in which memory is contiguous. The value is turned
into the bits of the element type on the host, so that one kernel serves all types and every value is exact.
"""

import torch
import triton
import triton.language as tl

BITS = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


@triton.jit(do_not_specialize=["value"])
def fill_kernel(
    x_ptr, index_ptr, value, K, places, index_stride, dim_stride, lengths, strides,
    AXES: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    blocks = tl.cdiv(K, ROWS)
    k = (tl.program_id(0) % blocks).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    place = (tl.program_id(0) // blocks).to(tl.int64) * COLUMNS + tl.arange(0, COLUMNS)
    at = tl.zeros((COLUMNS,), tl.int64)
    rest = place
    for axis in tl.static_range(AXES):
        at += rest % lengths[axis] * strides[axis]
        rest = rest // lengths[axis]
    slices = tl.load(index_ptr + k * index_stride, mask=k < K, other=0) * dim_stride
    bits = tl.full((ROWS, COLUMNS), 0, x_ptr.dtype.element_ty) + value.to(x_ptr.dtype.element_ty)
    tl.store(x_ptr + slices[:, None] + at[None, :], bits, mask=(k < K)[:, None] & (place < places)[None, :])


def joined(axes):
    """Axes (stride, length) in the order of memory, innermost first; those that lie in memory as one are one."""
    found = []
    for stride, length in sorted(axes):
        if found and stride == found[-1][0] * found[-1][1]:
            found[-1] = (found[-1][0], found[-1][1] * length)
        else:
            found.append((stride, length))
    return found


def index_fill_(dim, x, index, value):
    dim %= x.dim()
    K = index.numel()
    places = torch.Size(n for d, n in enumerate(x.shape) if d != dim).numel()
    if K and places:
        axes = joined((x.stride(d), n) for d, n in enumerate(x.shape) if d != dim and n > 1)
        bits = BITS[x.element_size()]
        number = torch.tensor([value], dtype=x.dtype).view(bits).item()
        if axes and axes[0][0] < x.stride(dim):
            columns = min(triton.next_power_of_2(places), 1024)
            rows = min(triton.next_power_of_2(K), 4096 // columns)
        else:
            rows = min(triton.next_power_of_2(K), 1024)
            columns = min(triton.next_power_of_2(places), 4096 // rows)
        fill_kernel[(triton.cdiv(K, rows) * triton.cdiv(places, columns),)](
            x.view(bits), index, number, K, places, index.stride(0), x.stride(dim),
            tuple(n for _, n in axes), tuple(s for s, _ in axes), len(axes), rows, columns, num_warps=8,
        )  # fmt: skip
    return x
