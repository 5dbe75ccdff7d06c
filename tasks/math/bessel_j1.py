"""Bessel function of the first kind of order 1, J1(x), of every element.

`input` is float32. J1 is odd, close to x / 2 near 0, and sqrt(2 / (pi * x)) * cos(x - 3 / 4 * pi) for large x.
"""

import torch

from pytest_kernelbenchx import fills, task


@task(
    inputs={"input": "f32[*S]"},
    output="f32[*S]",
    fill={"input": fills.normal(std=5.0)},
    examples=[
        dict(input=[-5.0 + n / 2 for n in range(21)], out=True),
        dict(input=[1e-6, 1e-3, 3.8317060, 4.9999, 5.0001, -7.0155867, 8.0, 100.0, -1000.0, float("nan")]),
        dict(S=[64, 64], fill="both"),
        dict(S=[0]),
    ],
    sizes={"4k": dict(S=[4096]), "1m": dict(S=[1 << 20]), "128m": dict(S=[1 << 27])},
)
def bessel_j1(input, out=None):
    return torch.special.bessel_j1(input, out=out)
