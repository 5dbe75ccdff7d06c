"""1 / x for every element.

`input` has any shape and a floating-point type; the result has the same shape and type. Zeros give infinities of their
sign, infinities zeros. With `out` the result is written there, whatever its strides, and it is returned.
"""

import torch

from pytest_kernelbenchx import Shapes, task


@task(
    inputs={"input": "T[*S]"},
    output="T[*S]",
    dtypes=("f32", "f16", "bf16"),
    axes={"S": Shapes(0, 4, min_side=0)},
    examples=[
        dict(input=[-0.4595, -2.122, -1.431, 0.7298]),
        dict(input=[0.0, 1.0, -1.0, 2.0]),
        dict(input=[1e10, -1e10, 1e-10, -1e-10], dtype="f32"),
        dict(input=[-0.0, float("inf"), -float("inf"), float("nan")]),
        dict(S=[4], input="ones"),
        *[dict(S=[64, 64], fill=fill) for fill in ("standard", "outlier")],
        dict(S=[0]),
    ],
    sizes={"4k": dict(S=[4096]), "1m": dict(S=[1 << 20]), "128m": dict(S=[1 << 27])},
)
def reciprocal(input, out=None):
    return torch.reciprocal(input, out=out)
