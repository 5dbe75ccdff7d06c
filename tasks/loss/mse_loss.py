"""Mean squared error: (input - target)^2, reduced.

`input` and `target` have the same shape, and so has the result under `reduction="none"`; "sum" adds up, "mean" divides
the sum by the number of elements. The mean over no elements is NaN, their sum 0.
"""

import torch

from pytest_kernelbenchx import task


@task(
    inputs={"input": "T[*S]", "target": "T[*S]"},
    output="T[...]",
    dtypes=("f32", "f16", "bf16"),
    examples=[
        dict(S=[3, 3], reduction="none"),
        *[dict(S=[128, 256], reduction=reduction, fill="both") for reduction in ("mean", "sum")],
        dict(S=[50001]),
        *[dict(S=[0], reduction=reduction) for reduction in ("mean", "sum")],
    ],
    sizes={
        "4k": dict(S=[4096]),
        "64m": dict(S=[1 << 26]),
        "none_64m": dict(S=[1 << 26], reduction="none", dtype="bf16"),
    },
)
def mse_loss(input, target, reduction="mean"):
    return torch.nn.functional.mse_loss(input, target, reduction=reduction)
