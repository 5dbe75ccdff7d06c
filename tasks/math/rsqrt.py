"""1 / sqrt(x) for every element.

`input` has any shape and a floating-point type; the result has the same shape and type. 0 gives inf, inf gives 0, and
negative numbers give NaN. With `out` the result is written there, whatever its strides, and it is returned.
"""

import torch

from pytest_kernelbenchx import Shapes, fills, task


@task(
    inputs={"input": "T[*S]"},
    output="T[*S]",
    dtypes=("f32", "f16", "bf16"),
    axes={"S": Shapes(0, 4, min_side=0)},
    fill={"input": fills.positive()},
    examples=[
        dict(input=[4.0, 16.0, 25.0]),
        dict(input=[0.0, 1.0, 4.0], out=True),
        dict(input=[-1.0, 4.0, 9.0]),
        dict(input=[0.0, 0.0, 0.0]),
        dict(input=[-0.0, float("inf"), -float("inf"), float("nan")]),
        dict(input=[1e-30, 3e-30, 2e-29]),
        dict(input=[1e30, 3e35, 2e38]),
        *[dict(S=[64, 64], fill=fill) for fill in ("standard", "outlier")],
        dict(S=[0]),
    ],
    sizes={"4k": dict(S=[4096]), "1m": dict(S=[1 << 20]), "128m": dict(S=[1 << 27])},
)
def rsqrt(input, out=None):
    return torch.rsqrt(input, out=out)
