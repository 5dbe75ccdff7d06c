"""Absolute value of every element.

`input_tensor` has any shape and a floating-point type; the result has the same shape and type. Zeros of either sign
give 0, infinities inf. With `out` the result is written there, whatever its strides, and it is returned. The result is
exact or wrong.
"""

import torch

from pytest_kernelbenchx import Shapes, task


@task(
    inputs={"input_tensor": "T[*S]"},
    output="T[*S]",
    dtypes=("f32", "f16", "bf16"),
    axes={"S": Shapes(0, 4, min_side=0)},
    tolerance={"exact": True},
    examples=[
        dict(input_tensor=[-1.0, 2.0, -3.0]),
        dict(input_tensor=[0.0, -0.0, 0.0]),
        dict(input_tensor=[-5.0, 0.0, 5.0]),
        dict(input_tensor=[-1e10, 1e10, -1e-10, float("nan"), float("inf"), -float("inf")]),
        *[dict(S=[64, 64], fill=fill) for fill in ("standard", "outlier")],
        dict(S=[1025], out=True),
        dict(S=[0]),
    ],
    sizes={"4k": dict(S=[4096]), "1m": dict(S=[1 << 20]), "128m": dict(S=[1 << 27])},
)
def abs(input_tensor, out=None):
    return torch.abs(input_tensor, out=out)
