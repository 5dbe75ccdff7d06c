"""Leaky rectified linear unit of every element: x where x > 0, negative_slope * x elsewhere.

`negative_slope` is any number. With `inplace=True` `input` itself, whatever its strides, receives the result.
"""

import torch

from pytest_kernelbenchx import task


@task(
    inputs={"input": "T[*S]"},
    output="T[*S]",
    dtypes=("f32", "f16", "bf16"),
    options={"negative_slope": [0.01, 0.1, 0.5, 0, 1.5, -0.25]},
    mutates=("input",),
    examples=[
        dict(input=[-4.0, -2.0, -1.0, 0.0, 1.0, 2.0, 4.0]),
        dict(input=[-3.0, 0.0, 3.0], inplace=True),
        dict(input=[float("inf"), -float("inf"), -0.0]),
        dict(S=[256, 257], negative_slope=0.1, fill="both"),
        dict(S=[0]),
    ],
    sizes={"4k": dict(S=[4096]), "1m": dict(S=[1 << 20]), "128m": dict(S=[1 << 27])},
)
def leaky_relu(input, negative_slope=0.01, inplace=False):
    return torch.nn.functional.leaky_relu(input, negative_slope, inplace)
