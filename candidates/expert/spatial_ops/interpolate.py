"""Signals, images and volumes resized. All are volumes here, with one layer, or one layer and one row.

A program holds a block of places of the result by a block of planes (batch x channel). Neighbours and weights along
each axis follow from the places once; then for each block of planes the neighbours are gathered.
"""

from math import floor

import torch
import triton
import triton.language as tl


@triton.jit
def place_of(i, ratio, ALIGN: tl.constexpr):
    if ALIGN:
        return i * ratio
    else:
        return (i + 0.5) * ratio - 0.5


@triton.jit
def keys(distance):
    """Keys' kernel with a = -0.75, for distances 0 to 2."""
    d = tl.abs(distance)
    near = (1.25 * d - 2.25) * d * d + 1.0
    far = ((-0.75 * d + 3.75) * d - 6.0) * d + 3.0
    return tl.where(d <= 1.0, near, far)


@triton.jit
def neighbour(place, j, n, SIDE: tl.constexpr):
    """Index and weight of the j-th of 2 or 4 neighbours along an axis of n elements."""
    if SIDE == 2:
        place = tl.maximum(place, 0.0)
        at = tl.floor(place) + j
        weight = 1.0 - tl.abs(place - at)
    else:
        at = tl.floor(place) + (j - 1)
        weight = keys(place - at)
    return tl.minimum(tl.maximum(at.to(tl.int32), 0), n - 1), weight


@triton.jit
def weighed_kernel(x_ptr, y_ptr, PLANES, D, H, W, OH, OW, PLACES, ratio_d, ratio_h, ratio_w,
                   ALIGN: tl.constexpr, LAYERS: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
                   BLOCK_P: tl.constexpr, BLOCK_C: tl.constexpr):
    """LAYERS x ROWS x COLUMNS neighbours, 1, 2 or 4 along each axis."""
    p = tl.program_id(0).to(tl.int64) * BLOCK_P + tl.arange(0, BLOCK_P)
    c = tl.program_id(1).to(tl.int64) * BLOCK_C + tl.arange(0, BLOCK_C)
    ok = (c < PLANES)[:, None] & (p < PLACES)[None, :]
    x = place_of((p % OW).to(tl.float32), ratio_w, ALIGN)
    y = place_of((p // OW % OH).to(tl.float32), ratio_h, ALIGN)
    z = place_of((p // OW // OH).to(tl.float32), ratio_d, ALIGN)
    plane = x_ptr + (c * D * H * W)[:, None]
    total = tl.zeros((BLOCK_C, BLOCK_P), tl.float32)
    for k in tl.static_range(LAYERS):
        layer, of_layer = tl.zeros((BLOCK_P,), tl.int32), tl.full((BLOCK_P,), 1.0, tl.float32)
        if LAYERS > 1:
            layer, of_layer = neighbour(z, k, D, LAYERS)
        for i in tl.static_range(ROWS):
            row, of_row = tl.zeros((BLOCK_P,), tl.int32), of_layer
            if ROWS > 1:
                row, of_row = neighbour(y, i, H, ROWS)
                of_row *= of_layer
            for j in tl.static_range(COLUMNS):
                column, weight = neighbour(x, j, W, COLUMNS)
                at = (layer.to(tl.int64) * H + row) * W + column
                total += (weight * of_row)[None, :] * tl.load(plane + at[None, :], mask=ok, other=0.0)
    tl.store(y_ptr + c[:, None] * PLACES + p[None, :], total, mask=ok)


@triton.jit
def nearest_kernel(x_ptr, y_ptr, PLANES, D, H, W, OH, OW, PLACES, ratio_d, ratio_h, ratio_w, half,
                   BLOCK_P: tl.constexpr, BLOCK_C: tl.constexpr):
    p = tl.program_id(0).to(tl.int64) * BLOCK_P + tl.arange(0, BLOCK_P)
    c = tl.program_id(1).to(tl.int64) * BLOCK_C + tl.arange(0, BLOCK_C)
    ok = (c < PLANES)[:, None] & (p < PLACES)[None, :]
    column = tl.minimum((((p % OW).to(tl.float32) + half) * ratio_w).to(tl.int32), W - 1)
    row = tl.minimum((((p // OW % OH).to(tl.float32) + half) * ratio_h).to(tl.int32), H - 1)
    layer = tl.minimum((((p // OW // OH).to(tl.float32) + half) * ratio_d).to(tl.int32), D - 1)
    at = (layer.to(tl.int64) * H + row) * W + column
    value = tl.load(x_ptr + (c * D * H * W)[:, None] + at[None, :], mask=ok)
    tl.store(y_ptr + c[:, None] * PLACES + p[None, :], value, mask=ok)


@triton.jit
def area_kernel(x_ptr, y_ptr, PLANES, D, H, W, OD, OH, OW, most_d, most_h, most_w,
                BLOCK_P: tl.constexpr, BLOCK_C: tl.constexpr):
    """Means over boxes, of up to most_d x most_h x most_w elements."""
    p = tl.program_id(0).to(tl.int64) * BLOCK_P + tl.arange(0, BLOCK_P)
    c = tl.program_id(1).to(tl.int64) * BLOCK_C + tl.arange(0, BLOCK_C)
    ok = (c < PLANES)[:, None] & (p < OD * OH * OW)[None, :]
    x, y, z = p % OW, p // OW % OH, p // OW // OH
    left, right = x * W // OW, tl.cdiv((x + 1) * W, OW)
    top, bottom = y * H // OH, tl.cdiv((y + 1) * H, OH)
    front, back = z * D // OD, tl.cdiv((z + 1) * D, OD)
    plane = x_ptr + (c * D * H * W)[:, None]
    total = tl.zeros((BLOCK_C, BLOCK_P), tl.float32)
    for box in range(most_d * most_h * most_w):
        layer = front + box // (most_h * most_w)
        row = top + box // most_w % most_h
        column = left + box % most_w
        inside = ok & ((layer < back) & (row < bottom) & (column < right))[None, :]
        total += tl.load(plane + ((layer * H + row) * W + column)[None, :], mask=inside, other=0.0)
    count = (back - front) * (bottom - top) * (right - left)
    mean = total / count.to(tl.float32)[None, :]
    tl.store(y_ptr + c[:, None] * OD * OH * OW + p[None, :], mean, mask=ok)


def each(value, axes):
    return list(value) if isinstance(value, (list, tuple)) else [value] * axes


def interpolate(input, size=None, scale_factor=None, mode="nearest", align_corners=None):
    S = list(input.shape[2:])
    axes = len(S)
    weighed = {"linear": 1, "bilinear": 2, "trilinear": 3, "bicubic": 2}
    if mode not in ("nearest", "nearest-exact", "area") and weighed.get(mode) != axes:
        raise ValueError(f"mode is {mode!r}, which does not go with {axes} spatial axes")
    if (size is None) == (scale_factor is None):
        raise ValueError("one of size and scale_factor is wanted")
    if align_corners is not None and mode not in weighed:
        raise ValueError(f"align_corners does not go with mode {mode!r}")
    factors = each(scale_factor, axes)
    sizes = each(size, axes) if size is not None else [floor(n * f) for n, f in zip(S, factors, strict=True)]
    if len(sizes) != axes or min(sizes) < 1:
        raise ValueError(f"the size {sizes} does not go with an input of shape {list(input.shape)}")
    output = torch.empty((*input.shape[:2], *sizes), dtype=input.dtype, device=input.device)
    planes, places = input.shape[0] * input.shape[1], torch.Size(sizes).numel()
    if not output.numel():
        return output
    if align_corners:
        ratios = [(n - 1) / (m - 1) if m > 1 else 0.0 for n, m in zip(S, sizes, strict=True)]
    else:
        ratios = [n / m if f is None else 1 / f for n, m, f in zip(S, sizes, factors, strict=True)]
    filled = [1] * (3 - axes)
    ratios = [1.0] * (3 - axes) + ratios
    x, S, sizes = input.contiguous(), filled + S, filled + sizes
    block_c = min(4, triton.next_power_of_2(planes))
    block_p = (1024 if output.numel() <= 2**18 else 512) // block_c
    grid = (triton.cdiv(places, block_p), triton.cdiv(planes, block_c))
    if mode == "area":
        most = [(n + m - 1) // m + (n % m > 0) for n, m in zip(S, sizes, strict=True)]
        area_kernel[grid](x, output, planes, *S, *sizes, *most, BLOCK_P=block_p, BLOCK_C=block_c)
    elif mode in weighed:
        side = 4 if mode == "bicubic" else 2
        layers, rows, columns = ([1] * (3 - axes) + [side] * axes)
        weighed_kernel[grid](
            x, output, planes, *S, *sizes[1:], places, *ratios, ALIGN=bool(align_corners),
            LAYERS=layers, ROWS=rows, COLUMNS=columns, BLOCK_P=block_p, BLOCK_C=block_c)
    else:
        half = 0.5 if mode == "nearest-exact" else 0.0
        nearest_kernel[grid](
            x, output, planes, *S, *sizes[1:], places, *ratios, half, BLOCK_P=block_p, BLOCK_C=block_c)
    return output
