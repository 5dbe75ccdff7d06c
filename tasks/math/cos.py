"""Cosine of every element, an angle in radians.

`input_tensor` has any shape and a floating-point type; the result has the same shape and type. Angles may be of many
turns; infinities give NaN.
"""

import torch

from pytest_kernelbenchx import Shapes, fills, task


@task(
    inputs={"input_tensor": "T[*S]"},
    output="T[*S]",
    dtypes=("f32", "f16", "bf16"),
    axes={"S": Shapes(0, 4, min_side=0)},
    fill={"input_tensor": fills.one_of(fills.normal(), fills.normal(std=100.0))},
    examples=[
        dict(input_tensor=[0.0]),
        dict(input_tensor=[-1.571]),
        dict(input_tensor=[0.0, 1.571, 3.142]),
        dict(input_tensor=[-0.0, 1e-8, 6.2831855, 10000.0, -32768.5, float("inf"), -float("inf"), float("nan")]),
        dict(input_tensor=[(2 * i / 999 - 1) * 3.14159265 for i in range(1000)]),
        *[dict(S=shape, fill=fill) for shape in ([1024], [64, 64]) for fill in ("standard", "outlier")],
        dict(S=[0]),
    ],
    sizes={"4k": dict(S=[4096]), "1m": dict(S=[1 << 20]), "128m": dict(S=[1 << 27])},
)
def cos(input_tensor):
    return torch.cos(input_tensor)
