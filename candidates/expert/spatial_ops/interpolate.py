"""Signals, images and volumes resized. All are volumes here, with one layer, or one layer and one row.

A program holds a tile of rows and columns of the result, of a few planes (batch x channel). Neighbours and weights
follow once from rows and from columns, which are far fewer than places; then neighbours are gathered for each plane.
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
def places(OH, OW, R, BLOCK_Y: tl.constexpr, BLOCK_X: tl.constexpr):
    """Layers, rows and columns of a tile of the result, whose R rows are of all layers; offsets; what is there."""
    across = tl.cdiv(OW, BLOCK_X)
    r = tl.program_id(0) // across * BLOCK_Y + tl.arange(0, BLOCK_Y)
    x = tl.program_id(0) % across * BLOCK_X + tl.arange(0, BLOCK_X)
    at = (r.to(tl.int64) * OW)[:, None] + x[None, :]
    return r // OH, r % OH, x, at, (r < R)[:, None] & (x < OW)[None, :]


@triton.jit
def weighed_kernel(
    x_ptr, y_ptr, PLANES, D, H, W, OH, OW, R, ratio_d, ratio_h, ratio_w,
    ALIGN: tl.constexpr, LAYERS: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr, WIDE: tl.constexpr,
    BLOCK_C: tl.constexpr, BLOCK_Y: tl.constexpr, BLOCK_X: tl.constexpr,
):  # fmt: skip
    """LAYERS x ROWS x COLUMNS neighbours, 1, 2 or 4 along each axis; WIDE if offsets in a plane need 64 bits."""
    z, y, x, out_at, ok = places(OH, OW, R, BLOCK_Y, BLOCK_X)
    z, y = place_of(z.to(tl.float32), ratio_d, ALIGN), place_of(y.to(tl.float32), ratio_h, ALIGN)
    x = place_of(x.to(tl.float32), ratio_w, ALIGN)
    for c in range(tl.program_id(1) * BLOCK_C, tl.minimum(PLANES, (tl.program_id(1) + 1) * BLOCK_C)):
        plane = x_ptr + c.to(tl.int64) * D * H * W
        total = tl.zeros((BLOCK_Y, BLOCK_X), tl.float32)
        for k in tl.static_range(LAYERS):
            layer, of_layer = tl.zeros((BLOCK_Y,), tl.int32), tl.full((BLOCK_Y,), 1.0, tl.float32)
            if LAYERS > 1:
                layer, of_layer = neighbour(z, k, D, LAYERS)
            for i in tl.static_range(ROWS):
                row, of_row = tl.zeros((BLOCK_Y,), tl.int32), of_layer
                if ROWS > 1:
                    row, of_row = neighbour(y, i, H, ROWS)
                    of_row *= of_layer
                row_at = ((layer.to(tl.int64) if WIDE else layer) * H + row) * W
                along = tl.zeros((BLOCK_Y, BLOCK_X), tl.float32)
                for j in tl.static_range(COLUMNS):
                    column, weight = neighbour(x, j, W, COLUMNS)
                    value = tl.load(plane + (row_at[:, None] + column[None, :]), mask=ok, other=0.0)
                    along += weight[None, :] * value
                total += of_row[:, None] * along
        tl.store(y_ptr + c.to(tl.int64) * R * OW + out_at, total, mask=ok)


@triton.jit
def nearest_kernel(
    x_ptr, y_ptr, PLANES, D, H, W, OH, OW, R, ratio_d, ratio_h, ratio_w, half,
    BLOCK_C: tl.constexpr, BLOCK_Y: tl.constexpr, BLOCK_X: tl.constexpr,
):  # fmt: skip
    z, y, x, out_at, ok = places(OH, OW, R, BLOCK_Y, BLOCK_X)
    column = tl.minimum(((x.to(tl.float32) + half) * ratio_w).to(tl.int32), W - 1)
    row = tl.minimum(((y.to(tl.float32) + half) * ratio_h).to(tl.int32), H - 1)
    layer = tl.minimum(((z.to(tl.float32) + half) * ratio_d).to(tl.int32), D - 1)
    at = ((layer.to(tl.int64) * H + row) * W)[:, None] + column[None, :]
    for c in range(tl.program_id(1) * BLOCK_C, tl.minimum(PLANES, (tl.program_id(1) + 1) * BLOCK_C)):
        value = tl.load(x_ptr + c.to(tl.int64) * D * H * W + at, mask=ok)
        tl.store(y_ptr + c.to(tl.int64) * R * OW + out_at, value, mask=ok)


@triton.jit
def area_kernel(
    x_ptr, y_ptr, PLANES, D, H, W, OH, OW, R, most_d, most_h, most_w,
    BLOCK_C: tl.constexpr, BLOCK_Y: tl.constexpr, BLOCK_X: tl.constexpr,
):  # fmt: skip
    """Means over boxes, of up to most_d x most_h x most_w elements."""
    z, y, x, out_at, ok = places(OH, OW, R, BLOCK_Y, BLOCK_X)
    OD = R // OH
    left, right = (x.to(tl.int64) * W // OW).to(tl.int32), tl.cdiv((x.to(tl.int64) + 1) * W, OW).to(tl.int32)
    top, bottom = (y.to(tl.int64) * H // OH).to(tl.int32), tl.cdiv((y.to(tl.int64) + 1) * H, OH).to(tl.int32)
    front, back = (z.to(tl.int64) * D // OD).to(tl.int32), tl.cdiv((z.to(tl.int64) + 1) * D, OD).to(tl.int32)
    count = ((back - front) * (bottom - top))[:, None] * (right - left)[None, :]
    for c in range(tl.program_id(1) * BLOCK_C, tl.minimum(PLANES, (tl.program_id(1) + 1) * BLOCK_C)):
        plane = x_ptr + c.to(tl.int64) * D * H * W
        total = tl.zeros((BLOCK_Y, BLOCK_X), tl.float32)
        for box in range(most_d * most_h * most_w):
            layer, row = front + box // (most_h * most_w), top + box // most_w % most_h
            column = left + box % most_w
            inside = ok & ((layer < back) & (row < bottom))[:, None] & (column < right)[None, :]
            at = ((layer.to(tl.int64) * H + row) * W)[:, None] + column[None, :]
            total += tl.load(plane + at, mask=inside, other=0.0)
        tl.store(y_ptr + c.to(tl.int64) * R * OW + out_at, total / count.to(tl.float32), mask=ok)


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
    planes = input.shape[0] * input.shape[1]
    if not output.numel():
        return output
    if align_corners:
        ratios = [(n - 1) / (m - 1) if m > 1 else 0.0 for n, m in zip(S, sizes, strict=True)]
    else:
        ratios = [n / m if f is None else 1 / f for n, m, f in zip(S, sizes, factors, strict=True)]
    filled = [1] * (3 - axes)
    ratios = [1.0] * (3 - axes) + ratios
    x, S, sizes = input.contiguous(), filled + S, filled + sizes
    (D, H, W), (OD, OH, OW) = S, sizes
    block_x = min(triton.next_power_of_2(OW), 256)
    block = min(4, triton.next_power_of_2(planes)), min(triton.next_power_of_2(OD * OH), 512 // block_x), block_x
    grid = (triton.cdiv(OD * OH, block[1]) * triton.cdiv(OW, block_x), triton.cdiv(planes, block[0]))
    if mode == "area":
        most = [(n + m - 1) // m + (n % m > 0) for n, m in zip(S, sizes, strict=True)]
        area_kernel[grid](x, output, planes, *S, OH, OW, OD * OH, *most, *block)
    elif mode in weighed:
        side = 4 if mode == "bicubic" else 2
        neighbours = [1] * (3 - axes) + [side] * axes
        weighed_kernel[grid](
            x, output, planes, *S, OH, OW, OD * OH, *ratios, bool(align_corners), *neighbours,
            D * H * W >= 2**31, *block,
        )  # fmt: skip
    else:
        half = 0.5 if mode == "nearest-exact" else 0.0
        nearest_kernel[grid](x, output, planes, *S, OH, OW, OD * OH, *ratios, half, *block)
    return output
