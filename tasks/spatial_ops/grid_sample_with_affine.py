"""Images sampled on a grid that an affine map gives: grid_sample(input, affine_grid(theta, size, align_corners), ...).

`input` is float32 [N, C, height, width], `theta` [N, 2, 3], float32 or int64 (then converted), and `size` a list, tuple
or torch.Size (N, C, H, W), the shape of the result. Pixel (h, w) of the result is taken at

    (x, y) = theta[n] @ (u, v, 1)        u = (2 * w + 1) / W - 1        v = (2 * h + 1) / H - 1
    with align_corners: u = 2 * w / (W - 1) - 1, or 0 if W is 1; v accordingly

A coordinate g along an axis of length S stands for the index ((g + 1) * S - 1) / 2, with align_corners for
(g + 1) / 2 * (S - 1). `mode`: "nearest" takes the element at the index rounded half to even; "bilinear" weighs the 4
neighbours by distance; "bicubic" convolves 4 x 4 neighbours with Keys' kernel, a = -0.75. `padding_mode` says what lies
outside: "zeros"; "border", the nearest element; "reflection", the image reflected at -1/2 and S - 1/2, or with
align_corners at 0 and S - 1, as often as needed. With border and reflection, nearest and bilinear move the index, and
bicubic that of each neighbour. Other modes raise ValueError.

Upstream tries the identity alone, for which most kernels that ignore options pass. For "nearest", maps are drawn here
that lead to no place halfway between two elements.
"""

import warnings

import torch

from pytest_kernelbenchx import Shapes, fills, task

SIDES = (1, 2, 3, 5, 8, 13, 16, 17, 31, 32, 33, 63, 65)


def maps(rng, shape, dtype, kind, S, H, W, mode, align_corners):
    """Maps around the identity; of whole numbers -1 to 1."""
    if dtype is torch.int64:
        return torch.randint(-1, 2, shape, generator=rng)
    count = 16 if mode == "nearest" else 1
    drawn = [torch.eye(2, 3) + 0.4 * fills.default(rng, shape, dtype, kind) for _ in range(count)]
    return drawn[0] if count == 1 else max(drawn, key=lambda theta: clearance(theta, S, H, W, align_corners))


def clearance(theta, S, H, W, align_corners):
    """How far the places of a map keep from halfway between elements."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch's advice on sides of 1
        grid = torch.nn.functional.affine_grid(theta.double(), [len(theta), 1, H, W], align_corners)
    sides = torch.tensor(S[::-1])
    index = (grid + 1) / 2 * (sides - 1) if align_corners else ((grid + 1) * sides - 1) / 2
    return float((index - index.floor() - 0.5).abs().min())


def case(N, C, S, size, **more):
    return dict(N=N, C=C, S=S, H=size[0], W=size[1], size=(N, C, *size), **more)


@task(
    inputs={"input": "f32[N, C, *S]", "theta": "T[N, 2, 3]"},
    output="f32[N, C, H, W]",
    dtypes=("f32", "i64"),
    axes={"N": (1, 2, 3), "C": (1, 2, 3, 5), "S": Shapes(2, 2, longest=33), "H": SIDES, "W": SIDES},
    fill={"theta": maps},
    options={
        "size": lambda N, C, H, W: [[N, C, H, W], (N, C, H, W)],
        "mode": ("bilinear", "nearest", "bicubic"),
        "padding_mode": ("zeros", "border", "reflection"),
    },
    where=lambda dtype, mode: dtype == "f32" or mode != "nearest",  # whole numbers may lead halfway
    examples=[
        *[
            case(1, 3, [16, 12], [16, 12], theta=[[[1, 0, 0], [0, 1, 0]]], dtype="i64", **how)
            for how in ({}, dict(mode="nearest"), dict(padding_mode="reflection"), dict(align_corners=True))
        ],
        *[
            case(2, 2, [9, 13], [17, 11], mode=mode, padding_mode=pad, fill=fill, align_corners=fill == "outlier")
            for mode, pad in (("bilinear", "border"), ("nearest", "reflection"), ("bicubic", "reflection"))
            for fill in ("standard", "outlier")
        ],
        case(2, 3, [33, 20], [65, 70]),
        case(1, 1, [4, 4], [2, 2], mode="lanczos", raises=ValueError),
        case(1, 1, [4, 4], [2, 2], padding_mode="wrap", raises=ValueError),
        case(1, 1, [1, 5], [1, 7], mode="bicubic", padding_mode="border", align_corners=True),
    ],
    sizes={
        "256": case(1, 3, [256, 256], [256, 256]),
        "1k": case(16, 3, [512, 512], [1024, 1024]),
        "2k": case(16, 3, [1024, 1024], [2048, 2048]),
    },
)
def grid_sample_with_affine(input, theta, size, mode="bilinear", padding_mode="zeros", align_corners=False):
    grid = torch.nn.functional.affine_grid(theta.to(input.dtype), size, align_corners)
    return torch.nn.functional.grid_sample(input, grid, mode, padding_mode, align_corners)
