"""The integer part, nearest towards zero, of every element.

`input` has any shape; the result has the same shape and type. Integers come back as they are. NaN and infinities stay.
With `out` the result is written there, whatever its strides, and it is returned. The result is exact or wrong.
"""

import torch

from pytest_kernelbenchx import Shapes, fills, task


@task(
    inputs={"input": "T[*S]"},
    output="T[*S]",
    dtypes=("f32", "f16", "bf16", "i64"),
    axes={"S": Shapes(0, 4, min_side=0)},
    fill={"input": fills.normal(std=20.0)},
    tolerance={"exact": True},
    examples=[
        dict(input=[1.5, -2.7, 3.3, -4.8]),
        dict(input=[0.0, 2.9, 5.1], out=True),
        dict(input=[12350.0, -98770.0]),
        dict(input=[-0.1, 0.0, 0.1, -1.9, 1.9]),
        dict(input=[1, -2, 3, -(2**53) - 1], dtype="i64"),
        dict(input=[-0.0, -0.99999994, 8388607.5, -8388609.0, 1e30, float("nan"), float("inf"), -float("inf")]),
        *[dict(S=[64, 64], fill=fill) for fill in ("standard", "outlier")],
        dict(S=[0]),
    ],
    sizes={"4k": dict(S=[4096]), "1m": dict(S=[1 << 20]), "128m": dict(S=[1 << 27])},
)
def trunc(input, out=None):
    return torch.trunc(input, out=out)
