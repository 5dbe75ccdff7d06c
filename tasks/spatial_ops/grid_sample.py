"""Sample images or volumes at given places, with interpolation.

`input` is float32 [N, C, H, W] or [N, C, D, H, W]; `grid` is float32 [N, *out, 2] or [N, *out, 3], with as many output
axes as the input has spatial ones. The last axis of `grid` holds a place as (x, y) or (x, y, z), x along W; the result
is [N, C, *out]. A coordinate g along an axis of length S stands for the index

    ((g + 1) * S - 1) / 2        or, with align_corners, (g + 1) / 2 * (S - 1)

`padding_mode`: "zeros" takes values outside the input for 0; "border" moves the index to the nearest of 0 .. S - 1;
"reflection" reflects it at -1/2 and S - 1/2, or with align_corners at 0 and S - 1, as often as needed, and then moves
it into 0 .. S - 1. `mode`: "bilinear" weighs the 4 (8) neighbours by distance, "nearest" takes the element at the index
rounded half to even. Any other `mode`, "bicubic" included, or `padding_mode` raises ValueError. Nothing is mutated.

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
    options={
        "mode": ("bilinear", "nearest"),
        "padding_mode": ("zeros", "border", "reflection"),
        "align_corners": (False, True),
    },
    sizes={
        "256": dict(N=16, C=3, I=[256, 256], P=[128, 128], R=2),
        "1k": dict(N=16, C=3, I=[1024, 1024], P=[512, 512], R=2),
        "2k": dict(N=16, C=3, I=[2048, 2048], P=[1024, 1024], R=2),
    },
    bytes=lambda N, C, I, P, R: 4 * N * (C * I[0] * I[1] + (C + R) * P[0] * P[1]),  # noqa: E741
    examples=[
        dict(N=1, C=3, I=[4, 4], P=[2, 2], R=2),
        dict(N=1, C=3, I=[4, 4], P=[2, 2], R=2, mode="nearest", padding_mode="border"),
        dict(N=1, C=3, I=[4, 4, 4], P=[2, 2, 2], R=3, padding_mode="reflection"),
        dict(N=1, C=3, I=[4, 4, 4], P=[2, 2, 2], R=3, mode="nearest", align_corners=True),
        *(dict(N=2, C=3, I=[32, 32], P=[16, 16], R=2, fill=fill) for fill in ("standard", "outlier")),
        *(
            dict(N=2, C=2, I=[5, 7], P=[33, 9], R=2, fill="outlier", mode=mode, padding_mode=pad, align_corners=True)
            for mode in ("bilinear", "nearest")
            for pad in ("zeros", "border", "reflection")
        ),
        dict(N=1, C=1, I=[1, 1], P=[3, 3], R=2, padding_mode="reflection", align_corners=True),
        dict(N=1, C=1, I=[4, 4], P=[2, 2], R=2, mode="bicubic", raises=ValueError),
        dict(N=1, C=1, I=[4, 4], P=[2, 2], R=2, padding_mode="wrap", raises=ValueError),
    ],
)
def grid_sample(input, grid, mode="bilinear", padding_mode="zeros", align_corners=False):
    if mode not in ("bilinear", "nearest"):
        raise ValueError(f"mode is {mode!r}, wanted 'bilinear' or 'nearest'")
    return torch.nn.functional.grid_sample(input, grid, mode, padding_mode, align_corners)
