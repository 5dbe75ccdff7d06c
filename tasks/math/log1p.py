"""log(1 + x) for every element, accurate where x is small: log1p(1e-10) is 1e-10.

`input` has any shape and a floating-point type; the result has the same shape and type. -1 gives -inf, what lies below
gives NaN. With `out` the result is written there, whatever its strides, and it is returned.
"""

import torch

from pytest_kernelbenchx import Shapes, fills, task


@task(
    inputs={"input": "T[*S]"},
    output="T[*S]",
    dtypes=("f32", "f16", "bf16"),
    axes={"S": Shapes(0, 4, min_side=0)},
    fill={"input": fills.one_of(fills.normal(std=0.2), fills.normal(std=1e-3), fills.positive(-0.99))},
    examples=[
        dict(input=[0.1, 0.2, 0.3]),
        dict(input=[0.0, 0.5, 1.0], out=True),
        dict(input=[-0.1, -0.2, -0.3]),
        dict(input=[1.0, 2.0, 3.0, 4.0, 5.0]),
        dict(input=[1e-10, -2e-10, 3e-9]),
        dict(input=[-1.0, -1.5, -0.9999999, 1e30, float("inf"), float("nan")]),
        *[dict(S=[64, 64], fill=fill) for fill in ("standard", "outlier")],
        dict(S=[0]),
    ],
    sizes={"4k": dict(S=[4096]), "1m": dict(S=[1 << 20]), "128m": dict(S=[1 << 27])},
)
def log1p(input, out=None):
    return torch.log1p(input, out=out)
