"""Bessel function of the first kind of order 1, J1(x), of every element.

`input` has any shape and is float32; the result has the same shape and type. J1 is odd, close to x / 2 near 0, and
sqrt(2 / (pi * x)) * cos(x - 3 / 4 * pi) for large x. With `out` the result is written there, whatever its strides, and
it is returned.
"""

import torch

from pytest_kernelbenchx import Shapes, fills, task


@task(
    inputs={"input": "f32[*S]"},
    output="f32[*S]",
    axes={"S": Shapes(0, 4, min_side=0)},
    fill={"input": fills.normal(0.0, 5.0)},
    examples=[
        dict(input=[1.0]),
        dict(input=[0.0, 1.0, 2.0, 3.0]),
        dict(input=[-1.0, -2.0, -3.0]),
        dict(input=[-5.0 + 10 * n / 9 for n in range(10)]),
        dict(input=[1e-6, 1e-3, 3.8317060, 4.9999, 5.0001, -7.0155867, 8.0, 100.0, -1000.0, float("nan")]),
        *[dict(S=shape, fill=fill) for shape in ([1024], [64, 64]) for fill in ("standard", "outlier")],
        dict(S=[1025], out=True),
        dict(S=[0]),
    ],
    sizes={"4k": dict(S=[4096]), "1m": dict(S=[1 << 20]), "128m": dict(S=[1 << 27])},
)
def bessel_j1(input, out=None):
    return torch.special.bessel_j1(input, out=out)
