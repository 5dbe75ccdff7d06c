"""tanh(sqrt(x)) for every element.

`input` has any shape and a floating-point type; the result has the same shape and type. Negative numbers give NaN,
large ones 1. With `out` the result is written there, whatever its strides, and it is returned; upstream ignores `out`.
"""

import torch

from pytest_kernelbenchx import Shapes, fills, task


@task(
    inputs={"input": "T[*S]"},
    output="T[*S]",
    dtypes=("f32", "f16", "bf16"),
    axes={"S": Shapes(0, 4, min_side=0)},
    fill={"input": fills.one_of(fills.positive(0.0), fills.uniform(0.0, 1e-3))},
    examples=[
        dict(input=[4.0, 9.0, 16.0]),
        dict(input=[-4.0, -9.0, -16.0]),
        dict(input=[4.0, -9.0, 16.0, -1.0], out=True),
        dict(input=[0.0, 0.0, 0.0]),
        dict(input=[0.0, 1e-6, 0.3, 1.0, 100.0, 1e30, -1e-6, float("inf"), -float("inf"), float("nan")]),
        *[dict(S=[64, 64], fill=fill) for fill in ("standard", "outlier")],
        dict(S=[0]),
    ],
    sizes={"4k": dict(S=[4096]), "1m": dict(S=[1 << 20]), "128m": dict(S=[1 << 27])},
)
def sqrt_tanh(input, out=None):
    return torch.tanh(torch.sqrt(input), out=out)
