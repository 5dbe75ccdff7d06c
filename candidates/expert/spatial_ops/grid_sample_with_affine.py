"""Images sampled on an affine grid that is never laid out.

A program holds a block of pixels of one result. Their places follow from their numbers and the six numbers of the map;
then for each channel the 1, 4 or 16 neighbours are gathered.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def coordinate(i, S, ALIGN: tl.constexpr):
    """Where pixel i of S lies between -1 and 1; the middle is 0, however the division rounds."""
    if ALIGN:
        return tl.where(S > 1, (2.0 * i - (S - 1)) / tl.maximum(S - 1, 1), 0.0)
    else:
        return (2.0 * i + 1.0 - S) / S


@triton.jit
def index_of(g, S, ALIGN: tl.constexpr):
    """The index that coordinate g means along an axis of length S."""
    if ALIGN:
        return (g + 1.0) / 2.0 * (S - 1.0)
    else:
        return ((g + 1.0) * S - 1.0) / 2.0


@triton.jit
def moved(at, S, BORDER: tl.constexpr, REFLECT: tl.constexpr, ALIGN: tl.constexpr):
    """Index `at` moved into 0 .. S - 1 where the padding wants it."""
    last = tl.full((), 0.0, tl.float32) + S - 1.0
    if REFLECT:
        low = 0.0 if ALIGN else -0.5
        span = last if ALIGN else last + 1.0
        span = tl.where(span > 0.0, span, 1.0)
        away = tl.abs(at - low)
        turns = tl.floor(away / span)
        rest = away - turns * span
        odd = turns - 2.0 * tl.floor(turns * 0.5)
        at = tl.where(odd > 0.5, span - rest, rest) + low
    if BORDER or REFLECT:
        at = tl.minimum(tl.maximum(at, 0.0), last)
    return at


@triton.jit
def half_to_even(x):
    up = tl.floor(x + 0.5)
    tie_to_odd = (up - x == 0.5) & (up - 2.0 * tl.floor(up * 0.5) > 0.5)
    return tl.where(tie_to_odd, up - 1.0, up)


@triton.jit
def keys(distance):
    """Keys' kernel with a = -0.75, for distances 0 to 2."""
    d = tl.abs(distance)
    near = (1.25 * d - 2.25) * d * d + 1.0
    far = ((-0.75 * d + 3.75) * d - 6.0) * d + 3.0
    return tl.where(d <= 1.0, near, far)


@triton.jit
def affine_sample_kernel(x_ptr, t_ptr, y_ptr, C, H, W, OH, OW, x_n, x_c, x_h, x_w, t_n, t_i, t_j,
                         SIDE: tl.constexpr, BORDER: tl.constexpr, REFLECT: tl.constexpr, ALIGN: tl.constexpr,
                         BLOCK: tl.constexpr):
    """SIDE x SIDE neighbours: 1 for nearest, 2 for bilinear, 4 for bicubic."""
    n = tl.program_id(1).to(tl.int64)
    p = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    ok = p < OH * OW
    u = coordinate((p % OW).to(tl.float32), OW, ALIGN)
    v = coordinate((p // OW).to(tl.float32), OH, ALIGN)
    t_ptr += n * t_n
    a, b, c = tl.load(t_ptr), tl.load(t_ptr + t_j), tl.load(t_ptr + 2 * t_j)
    d, e, f = tl.load(t_ptr + t_i), tl.load(t_ptr + t_i + t_j), tl.load(t_ptr + t_i + 2 * t_j)
    x = index_of(a.to(tl.float32) * u + b.to(tl.float32) * v + c.to(tl.float32), W, ALIGN)
    y = index_of(d.to(tl.float32) * u + e.to(tl.float32) * v + f.to(tl.float32), H, ALIGN)
    if SIDE < 4:
        x, y = moved(x, W, BORDER, REFLECT, ALIGN), moved(y, H, BORDER, REFLECT, ALIGN)
    if SIDE == 1:
        left, top = half_to_even(x), half_to_even(y)
    elif SIDE == 2:
        left, top = tl.floor(x), tl.floor(y)
    else:
        left, top = tl.floor(x) - 1.0, tl.floor(y) - 1.0
    x_ptr += n * x_n
    y_ptr += n * C * OH * OW + p
    for channel in range(C):
        total = tl.zeros((BLOCK,), tl.float32)
        for i in tl.static_range(SIDE):
            row = top + i
            at_row = moved(row, H, BORDER, REFLECT, ALIGN) if SIDE == 4 else row
            # Compared as floats, since an index may be too large for an integer.
            row_ok = ok & (at_row >= 0.0) & (at_row <= H - 1.0)
            for j in tl.static_range(SIDE):
                column = left + j
                at_column = moved(column, W, BORDER, REFLECT, ALIGN) if SIDE == 4 else column
                there = row_ok & (at_column >= 0.0) & (at_column <= W - 1.0)
                at = tl.where(there, at_row, 0.0).to(tl.int64) * x_h
                at += tl.where(there, at_column, 0.0).to(tl.int64) * x_w
                value = tl.load(x_ptr + at, mask=there, other=0.0)
                if SIDE == 1:
                    total += value
                elif SIDE == 2:
                    weight = (1.0 - tl.abs(x - column)) * (1.0 - tl.abs(y - row))
                    total += tl.where(there, weight, 0.0) * value
                else:
                    total += tl.where(there, keys(x - column) * keys(y - row), 0.0) * value
        tl.store(y_ptr, total, mask=ok)
        x_ptr += x_c
        y_ptr += OH * OW


def grid_sample_with_affine(input, theta, size, mode="bilinear", padding_mode="zeros", align_corners=False):
    sides = {"nearest": 1, "bilinear": 2, "bicubic": 4}
    if mode not in sides:
        raise ValueError(f"mode is {mode!r}, wanted 'bilinear', 'nearest' or 'bicubic'")
    if padding_mode not in ("zeros", "border", "reflection"):
        raise ValueError(f"padding_mode is {padding_mode!r}, wanted 'zeros', 'border' or 'reflection'")
    N, C, H, W = input.shape
    OH, OW = size[2:]
    output = torch.empty((N, C, OH, OW), dtype=input.dtype, device=input.device)
    if output.numel():
        block, warps = (1024, 8) if output.numel() <= 2**14 else (256, 4)
        affine_sample_kernel[(triton.cdiv(OH * OW, block), N)](
            input, theta, output, C, H, W, OH, OW, *input.stride(), *theta.stride(),
            SIDE=sides[mode], BORDER=padding_mode == "border", REFLECT=padding_mode == "reflection",
            ALIGN=bool(align_corners), BLOCK=block, num_warps=warps)
    return output
