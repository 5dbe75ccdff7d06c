"""Logistic function of every element: 1 / (1 + exp(-x)).

`input` has any shape and a floating-point type; the result has the same shape and type. Large arguments give 0 and 1,
never NaN. With `out` the result is written there, whatever its strides, and it is returned.
"""

import torch

from pytest_kernelbenchx import Shapes, task


@task(
    inputs={"input": "T[*S]"},
    output="T[*S]",
    dtypes=("f32", "f16", "bf16"),
    axes={"S": Shapes(0, 4, min_side=0)},
    examples=[
        dict(input=[0.0, 1.0, -1.0]),
        dict(input=[0.5, -0.5, 2.0, -2.0]),
        dict(input=[[0.0, 1.0], [-1.0, 2.0]], out=True),
        dict(S=[3, 3], input="zeros"),
        dict(input=[-20.0, 20.0, 90.0, -90.0, 1000.0, -1000.0, float("inf"), -float("inf"), float("nan")]),
        *[dict(S=[128, 129], fill=fill) for fill in ("standard", "outlier")],
        dict(S=[0]),
    ],
    sizes={"4k": dict(S=[4096]), "1m": dict(S=[1 << 20]), "128m": dict(S=[1 << 27])},
)
def sigmoid(input, out=None):
    return torch.sigmoid(input, out=out)
