"""Sample images or volumes at given places.

A program holds a block of places of one image. Indices and weights follow from the places once; then for each of its
channels the 1, 4 or 8 neighbours are gathered. It has so many channels that 16 MiB hold them, so that what neighbouring
places read again is found in the second-level cache. Images are volumes with one layer.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def index_of(g, S, BORDER: tl.constexpr, REFLECT: tl.constexpr, ALIGN: tl.constexpr):
    """The index that coordinate g means along an axis of length S, moved into 0 .. S - 1 where the padding wants it."""
    size = tl.full((), 0.0, tl.float32) + S
    at = (g + 1.0) / 2.0 * (size - 1.0) if ALIGN else ((g + 1.0) * size - 1.0) / 2.0
    if REFLECT:
        low = 0.0 if ALIGN else -0.5
        span = size - 1.0 if ALIGN else size
        span = tl.where(span > 0.0, span, 1.0)
        away = tl.abs(at - low)
        turns = tl.floor(away / span)
        rest = away - turns * span
        odd = turns - 2.0 * tl.floor(turns * 0.5)
        at = tl.where(odd > 0.5, span - rest, rest) + low
    if BORDER or REFLECT:
        at = tl.minimum(tl.maximum(at, 0.0), size - 1.0)
    return at


@triton.jit
def half_to_even(x):
    up = tl.floor(x + 0.5)
    tie_to_odd = (up - x == 0.5) & (up - 2.0 * tl.floor(up * 0.5) > 0.5)
    return tl.where(tie_to_odd, up - 1.0, up)


@triton.jit
def inside(at, S):
    """Whether the whole-numbered index lies in 0 .. S - 1; compared as floats, since it may not fit an integer."""
    return (at >= 0.0) & (at <= S - 1.0)


@triton.jit
def grid_sample_kernel(
    x_ptr, g_ptr, y_ptr, PLACES, C, channels, D, H, W, x_n, x_c, x_d, x_h, x_w,
    VOLUME: tl.constexpr, NEAREST: tl.constexpr, BORDER: tl.constexpr, REFLECT: tl.constexpr, ALIGN: tl.constexpr,
    WIDE: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """WIDE if offsets in the image of a channel need 64 bits."""
    n = tl.program_id(2).to(tl.int64)
    p = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    ok = p < PLACES
    AXES: tl.constexpr = 3 if VOLUME else 2
    g_at = g_ptr + n * PLACES * AXES + p.to(tl.int64) * AXES
    x = index_of(tl.load(g_at, mask=ok, other=0.0), W, BORDER, REFLECT, ALIGN)
    y = index_of(tl.load(g_at + 1, mask=ok, other=0.0), H, BORDER, REFLECT, ALIGN)
    z = tl.zeros((BLOCK,), tl.float32)
    if VOLUME:
        z = index_of(tl.load(g_at + 2, mask=ok, other=0.0), D, BORDER, REFLECT, ALIGN)
    if NEAREST:
        left, top, front = half_to_even(x), half_to_even(y), half_to_even(z)
    else:
        left, top, front = tl.floor(x), tl.floor(y), tl.floor(z)
    CORNERS: tl.constexpr = 1 if NEAREST else (8 if VOLUME else 4)
    NUMBER: tl.constexpr = tl.int64 if WIDE else tl.int32
    for c in range(tl.program_id(1) * channels, tl.minimum(C, (tl.program_id(1) + 1) * channels)):
        total = tl.zeros((BLOCK,), tl.float32)
        for corner in tl.static_range(CORNERS):
            column, row, layer = left + corner % 2, top + corner // 2 % 2, front + corner // 4
            there = ok & inside(column, W) & inside(row, H) & inside(layer, D)
            at = column.to(NUMBER) * x_w + row.to(NUMBER) * x_h + layer.to(NUMBER) * x_d
            value = tl.load(x_ptr + n * x_n + c.to(tl.int64) * x_c + at, mask=there, other=0.0)
            if NEAREST:
                total += value
            else:
                weight = (1.0 - tl.abs(x - column)) * (1.0 - tl.abs(y - row))
                if VOLUME:
                    weight *= 1.0 - tl.abs(z - layer)
                # Where the place is so far out that its neighbours can't be told apart the weight is not sensible.
                total += tl.where(there, weight * value, 0.0)
        tl.store(y_ptr + (n * C + c) * PLACES + p, total, mask=ok)


def grid_sample(input, grid, mode="bilinear", padding_mode="zeros", align_corners=False):
    if mode not in ("bilinear", "nearest"):
        raise ValueError(f"mode is {mode!r}, wanted 'bilinear' or 'nearest'")
    if padding_mode not in ("zeros", "border", "reflection"):
        raise ValueError(f"padding_mode is {padding_mode!r}, wanted 'zeros', 'border' or 'reflection'")
    axes = input.dim() - 2
    if axes not in (2, 3) or grid.dim() != axes + 2 or grid.shape[-1] != axes or grid.shape[0] != input.shape[0]:
        raise RuntimeError(f"a grid of shape {list(grid.shape)} does not fit an input of {list(input.shape)}")
    N, C = input.shape[:2]
    output = torch.empty((N, C, *grid.shape[1:-1]), dtype=input.dtype, device=input.device)
    if output.numel() == 0:
        return output
    x = input if axes == 3 else input.unsqueeze(2)
    places = output.numel() // (N * C)
    block = min(512, triton.next_power_of_2(places))
    channels = max(1, min(C, 2**22 // max(1, x[0, 0].numel())))
    wide = sum((n - 1) * step for n, step in zip(x.shape[2:], x.stride()[2:], strict=True)) >= 2**31
    grid_sample_kernel[(triton.cdiv(places, block), triton.cdiv(C, channels), N)](
        x, grid.contiguous(), output, places, C, channels, *x.shape[2:], *x.stride(),
        axes == 3, mode == "nearest", padding_mode == "border", padding_mode == "reflection", bool(align_corners),
        wide, block,
    )  # fmt: skip
    return output
