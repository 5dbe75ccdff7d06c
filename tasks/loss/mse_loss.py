"""Mean squared error: (input - target)^2, reduced.

`input` and `target` have the same shape and floating-point type, and so has the result under `reduction="none"`;
"mean" and "sum" give a scalar tensor of that type, 16-bit types being summed in float32. The mean over no elements is
NaN, their sum 0.
"""

import torch

from pytest_kernelbenchx import Shapes, task


@task(
    inputs={"input": "T[*S]", "target": "T[*S]"},
    output="T[...]",
    dtypes=("f32", "f16", "bf16"),
    axes={"S": Shapes(0, 4, min_side=0)},
    options={"reduction": ["mean", "sum", "none"]},
    examples=[
        dict(S=[10]),
        dict(S=[3, 3], reduction="none"),
        dict(S=[2, 3, 8, 8]),
        *[dict(S=[128, 256], reduction=r, fill=fill) for fill in ("standard", "outlier") for r in ("mean", "sum")],
        dict(S=[50001]),
        dict(S=[0]),
        dict(S=[0], reduction="sum"),
    ],
    sizes={
        "4k": dict(S=[4096]),
        "1m": dict(S=[1 << 20]),
        "64m": dict(S=[1 << 26]),
        "none_64m": dict(S=[1 << 26], reduction="none", dtype="bf16"),
    },
    bytes=lambda S, itemsize, reduction: (3 if reduction == "none" else 2) * itemsize * torch.Size(S).numel(),
)
def mse_loss(input, target, reduction="mean"):
    return torch.nn.functional.mse_loss(input, target, reduction=reduction)
