"""Leaky rectified linear unit: x where x > 0, negative_slope * x elsewhere.

`input` has any shape and a floating-point type; the result has the same shape and type.
`negative_slope` is any number. With `inplace=True` the result is written into `input`, whatever its strides, and
`input` itself is returned; otherwise `input` stays as it is.
"""

import torch

from pytest_kernelbenchx import Shapes, task


@task(
    inputs={"input": "T[*S]"},
    output="T[*S]",
    dtypes=("f32", "f16", "bf16"),
    axes={"S": Shapes(0, 4, min_side=0)},
    options={"negative_slope": [0.01, 0.1, 0.5, 0, 1.5, -0.25], "inplace": [False, True]},
    mutates=("input",),
    examples=[
        dict(input=[-1.0, 0.0, 1.0]),
        dict(input=[-2.0, 0.0, 2.0], negative_slope=0.1),
        dict(input=[-3.0, 0.0, 3.0], inplace=True),
        dict(input=[-4.0, -2.0, 0.0, 2.0, 4.0]),
        dict(input=[float("inf"), -float("inf"), -0.0]),
        dict(S=[256, 257], negative_slope=0.1),
        dict(S=[256, 257], negative_slope=0.1, fill="outlier"),
        dict(S=[0]),
    ],
    sizes={"4k": dict(S=[4096]), "1m": dict(S=[1 << 20]), "128m": dict(S=[1 << 27])},
)
def leaky_relu(input, negative_slope=0.01, inplace=False):
    return torch.nn.functional.leaky_relu(input, negative_slope, inplace)
