"""Sample images or volumes at given places, with interpolation.

`input` is float32 [N, C, H, W] or [N, C, D, H, W]; `grid` is float32 [N, *out, 2] or [N, *out, 3], with as many output
axes as the input has spatial ones. The last axis of `grid` holds a place as (x, y) or (x, y, z), x along W; the result
is [N, C, *out]. A coordinate g along an axis of length S stands for the index

    ((g + 1) * S - 1) / 2        or, with align_corners, (g + 1) / 2 * (S - 1)

`padding_mode`: "zeros" takes values outside the input for 0; "border" moves the index to the nearest of 0 .. S - 1;
"reflection" reflects it at -1/2 and S - 1/2, or with align_corners at 0 and S - 1, as often as needed, and then moves
it into 0 .. S - 1. `mode`: "bilinear" weighs the 4 (8) neighbours by distance, "nearest" takes the element at the index
rounded half to even. Any other `mode`, "bicubic" included, or `padding_mode` raises ValueError.

The grids that are drawn are multiples of 1 / 128, so that the nearest element is never a matter of rounding; outlier
cases reach far outside.
"""

import torch

from pytest_kernelbenchx import Shapes, task


def places(rng, shape, kind):
    """Multiples of 1 / 128 from -1.25 to 1.25; in outlier cases one in a hundred lies up to 50 times farther out."""
    steps = torch.randint(-160, 161, shape, generator=rng)
    far = torch.rand(shape, generator=rng) < (0.01 if kind == "outlier" else 0)
    return torch.where(far, 50 * steps, steps) / 128


def case(I, P, N=1, C=1, **more):  # noqa: E741
    return dict(N=N, C=C, I=I, P=P, R=len(I), **more)


@task(
    inputs={"input": "f32[N, C, *I]", "grid": "f32[N, *P, R]"},
    output="f32[...]",
    axes={
        "N": (1, 2, 3),
        "I": Shapes(2, 3, longest=33),
        "P": lambda I: Shapes(len(I), len(I), longest=33),  # noqa: E741
        "R": lambda I: (len(I),),  # noqa: E741
        "C": (1, 2, 3, 5, 16, 17),
    },
    fill={"grid": places},
    options={"mode": ("bilinear", "nearest"), "padding_mode": ("zeros", "border", "reflection")},
    bytes=lambda N, C, I, P, R: 4 * N * (C * I[0] * I[1] + (C + R) * P[0] * P[1]),  # noqa: E741
    examples=[
        case([4, 4], [2, 2], C=3, mode="nearest", padding_mode="border"),
        case([4, 4, 4], [2, 2, 2], C=3, padding_mode="reflection"),
        case([32, 32], [16, 16], N=2, C=3, fill="both"),
        *[
            case([5, 7], [33, 9], N=2, C=2, fill="outlier", mode=mode, padding_mode=pad, align_corners=True)
            for mode in ("bilinear", "nearest")
            for pad in ("zeros", "border", "reflection")
        ],
        case([1, 1], [3, 3], padding_mode="reflection", align_corners=True),
        case([4, 4], [2, 2], mode="bicubic", raises=ValueError),
        case([4, 4], [2, 2], padding_mode="wrap", raises=ValueError),
        case([4, 5, 3], [2, 3, 4], C=3, mode="nearest", align_corners=True),
    ],
    sizes={label: case([n, n], [n // 2, n // 2], N=16, C=3) for label, n in (("256", 256), ("1k", 1024), ("2k", 2048))},
)
def grid_sample(input, grid, mode="bilinear", padding_mode="zeros", align_corners=False):
    if mode not in ("bilinear", "nearest"):
        raise ValueError(f"mode is {mode!r}, wanted 'bilinear' or 'nearest'")
    return torch.nn.functional.grid_sample(input, grid, mode, padding_mode, align_corners)
