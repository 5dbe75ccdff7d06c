"""Fractional max pooling of rectified images: a program for a block of windows of some planes.

The steps between windows must be s = (H - KH) / (OH - 1), rounded down or up. floor((i * (H - KH) + r) / (OH - 1)) with
one r from 0 to OH - 2 for all windows of a plane makes them so, in whole numbers and from 0 to H - KH. The r of a plane
come from Philox, counted by the plane and keyed by a seed from torch's generator.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def first_of_window(window, windows, room, draw):
    """Where a window begins, of `windows` that begin at 0 to `room`; a single one begins at `room`, as in PyTorch."""
    steps = tl.maximum(windows - 1, 1)
    shift = (draw.to(tl.uint32, bitcast=True) % steps.to(tl.uint32)).to(tl.int32)
    return (tl.where(windows > 1, window, 1)[None, :] * room + shift[:, None]) // steps


@triton.jit(do_not_specialize=["seed"])
def pool_kernel(
    x_ptr, y_ptr, place_ptr, planes, H, W, OH, OW, seed,
    KH: tl.constexpr, KW: tl.constexpr, PLACES: tl.constexpr, PLANES: tl.constexpr, WINDOWS: tl.constexpr,
):  # fmt: skip
    blocks = tl.cdiv(OH * OW, WINDOWS)
    plane = tl.program_id(0) // blocks * PLANES + tl.arange(0, PLANES)
    window = tl.program_id(0) % blocks * WINDOWS + tl.arange(0, WINDOWS)
    inside = (plane < planes)[:, None] & (window < OH * OW)[None, :]
    down, right, _, _ = tl.randint4x(seed, plane)
    first = first_of_window(window // OW, OH, H - KH, down) * W + first_of_window(window % OW, OW, W - KW, right)
    x_at = x_ptr + plane.to(tl.int64)[:, None] * H * W + first
    best = tl.full((PLANES, WINDOWS), -1.0, tl.float32)
    place = first
    for i in tl.static_range(KH):
        for j in tl.static_range(KW):
            x = tl.load(x_at + (i * W + j), mask=inside, other=0.0)
            x = tl.where(x < 0.0, 0.0, x)
            better = (x > best) | (x != x)
            best = tl.where(better, x, best)
            if PLACES:
                place = tl.where(better, first + (i * W + j), place)
    y_at = plane.to(tl.int64)[:, None] * (OH * OW) + window[None, :]
    tl.store(y_ptr + y_at, best, mask=inside)
    if PLACES:
        tl.store(place_ptr + y_at, place.to(tl.int64), mask=inside)


def pair(value):
    return (value[0], value[-1]) if isinstance(value, (tuple, list)) else (value, value)


def fused_fractional_max_pool2d_with_relu(
    input, kernel_size, output_size=None, output_ratio=None, return_indices=False
):
    if output_size is None and output_ratio is None:
        raise ValueError("fractional max pooling wants an output_size or an output_ratio")
    H, W = input.shape[-2:]
    KH, KW = pair(kernel_size)
    if output_size is None:
        output_size = [int(n * ratio) for n, ratio in zip((H, W), pair(output_ratio), strict=True)]
    OH, OW = pair(output_size)
    if OH < 1 or OW < 1 or OH + KH - 1 > H or OW + KW - 1 > W:
        raise RuntimeError(f"{OH} x {OW} windows of {KH} x {KW} do not fit an input of {H} x {W}")
    y = torch.empty((*input.shape[:-2], OH, OW), dtype=input.dtype, device=input.device)
    places = torch.empty(y.shape, dtype=torch.int64, device=y.device) if return_indices else y
    if y.numel():
        planes = y.numel() // (OH * OW)
        windows = min(triton.next_power_of_2(OH * OW), 1024)
        height = min(triton.next_power_of_2(planes), 1024 // windows)
        pool_kernel[(triton.cdiv(planes, height) * triton.cdiv(OH * OW, windows),)](
            input.contiguous(), y, places, planes, H, W, OH, OW, int(torch.randint(2**31 - 1, ())),
            KH, KW, bool(return_indices), height, windows,
        )  # fmt: skip
    return (y, places) if return_indices else y
