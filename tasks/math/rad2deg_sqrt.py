"""Degrees and square root of every element: the pair (x * 180 / pi, sqrt(x)).

`input` has any shape and a floating-point type; both results have the same shape and type. The square root of a
negative number is NaN, and its degrees are as for any other.
"""

import torch

from pytest_kernelbenchx import Shapes, fills, task


@task(
    inputs={"input": "T[*S]"},
    output=("T[*S]", "T[*S]"),
    dtypes=("f32", "f16", "bf16"),
    axes={"S": Shapes(0, 4, min_side=0)},
    fill={"input": fills.normal(2.0, 1.0)},  # a few are negative
    examples=[
        dict(input=[3.142, 1.57, 0.785, 0.0]),
        dict(input=[0.0]),
        dict(input=[-3.142, -1.57, -0.785]),
        dict(input=[3.142, -1.57, 0.785, -0.785]),
        dict(input=[2e-38, 1e-10, 1e10, 3e36, float("inf"), float("nan")]),
        *[dict(S=[64, 64], fill=fill) for fill in ("standard", "outlier")],
        dict(S=[1025]),
        dict(S=[0]),
    ],
    sizes={"4k": dict(S=[4096]), "1m": dict(S=[1 << 20]), "64m": dict(S=[1 << 26])},
)
def rad2deg_sqrt(input):
    return torch.rad2deg(input), torch.sqrt(input)
