"""Smooth L1 loss: d ** 2 / (2 * beta) where |d| < beta, |d| - beta / 2 elsewhere, d = input - target, reduced.

`input` and `target` have the same shape and floating-point type, and so has the result under `reduction="none"`;
"mean" and "sum" give a scalar tensor of that type, 16-bit types being summed in float32. The mean over no elements is
NaN, their sum 0. `beta` is a number; 0 leaves |d|, a negative one is an error, and so is any other `reduction`.
"""

import torch

from pytest_kernelbenchx import Shapes, task


@task(
    inputs={"input": "T[*S]", "target": "T[*S]"},
    output="T[...]",
    dtypes=("f32", "f16", "bf16"),
    axes={"S": Shapes(0, 4, min_side=0)},
    options={"beta": [1.0, 0.5, 0.1, 0, 2.5], "reduction": ["mean", "sum", "none"]},
    examples=[
        dict(S=[32]),
        dict(S=[32], beta=0.5),
        dict(S=[4, 8], reduction="none"),
        dict(input=[0.0, 1.0, -2.0, 3.0], target=[0.0, 0.0, 0.0, 2.5], S=[4], beta=0, reduction="none"),
        *[
            dict(S=[64, 65], beta=beta, reduction=reduction, fill=fill)
            for beta, reduction in ((1.0, "mean"), (0.5, "sum"), (0.1, "none"))
            for fill in ("standard", "outlier")
        ],
        dict(S=[50001]),
        dict(S=[0]),
        dict(S=[3], beta=-1.0, raises=RuntimeError),
        dict(S=[3], reduction="median", raises=ValueError),
    ],
    sizes={
        "4k": dict(S=[4096]),
        "1m": dict(S=[1 << 20]),
        "64m": dict(S=[1 << 26]),
        "none_64m": dict(S=[1 << 26], reduction="none", dtype="bf16"),
    },
)
def smooth_l1_loss(input, target, beta=1.0, reduction="mean"):
    return torch.nn.functional.smooth_l1_loss(input, target, reduction=reduction, beta=beta)
