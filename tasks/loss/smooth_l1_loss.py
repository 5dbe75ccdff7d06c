"""Smooth L1 loss: d ** 2 / (2 * beta) where |d| < beta, |d| - beta / 2 elsewhere, d = input - target, reduced.

`input` and `target` have the same shape, and so has the result under `reduction="none"`; "sum" adds up, "mean" divides
the sum by the number of elements: NaN over none. `beta` is a number; 0 leaves |d|, a negative one is a RuntimeError,
and any other `reduction` a ValueError.
"""

import torch

from pytest_kernelbenchx import task


@task(
    inputs={"input": "T[*S]", "target": "T[*S]"},
    output="T[...]",
    dtypes=("f32", "f16", "bf16"),
    options={"beta": [1.0, 0.5, 0.1, 0, 2.5]},
    examples=[
        dict(input=[0.0, 1.0, -2.0, 3.0], target=[0.0, 0.0, 0.0, 2.5], beta=0, reduction="none"),
        dict(S=[64, 65], fill="both"),
        dict(S=[64, 65], beta=0.5, reduction="sum", fill="both"),
        dict(S=[64, 65], beta=0.1, reduction="none", fill="both"),
        dict(S=[50001]),
        dict(S=[0]),
        dict(S=[3], beta=-1.0, raises=RuntimeError),
        dict(S=[3], reduction="median", raises=ValueError),
    ],
    sizes={
        "4k": dict(S=[4096]),
        "64m": dict(S=[1 << 26]),
        "none_64m": dict(S=[1 << 26], reduction="none", dtype="bf16"),
    },
)
def smooth_l1_loss(input, target, beta=1.0, reduction="mean"):
    return torch.nn.functional.smooth_l1_loss(input, target, reduction=reduction, beta=beta)
