"""Chebyshev polynomial of the first kind, T_n(x), for every element.

`input` is float32 and of any shape; the result has the same shape. `n`, an integer from 0 up, is the degree: T_0 = 1,
T_1 = x, T_n = 2 x T_(n-1) - T_(n-2); within [-1, 1] that is cos(n arccos(x)). Outside of it the polynomial is wanted
as well. With `out` the result is written there, whatever its strides, and it is returned; upstream ignores `out`.
"""

import torch

from pytest_kernelbenchx import Shapes, fills, task


def around(rng, shape, kind):
    """Most within [-1, 1], a few beyond, outliers up to 10."""
    return fills.normal(std=0.5)(rng, shape, kind).clamp(-10, 10)


@task(
    inputs={"input": "f32[*S]"},
    output="f32[*S]",
    axes={"S": Shapes(0, 4, min_side=0)},
    options={"n": [0, 1, 2, 3, 4, 5, 6, 7, 10, 15, 20]},
    fill={"input": fills.one_of(around, fills.uniform(-1, 1))},
    examples=[
        *[dict(input=[0.5, -0.5, 0.0], n=n) for n in (0, 1, 3)],
        dict(input=[-1.0, -0.5, -0.2], n=2, out=True),
        *[dict(input=[1.0, -1.0, 0.0, 1.0000001, -0.9999999, -1.5, 3.0, float("nan")], n=n) for n in (5, 8)],
        *[dict(S=[64, 64], n=n, fill=fill) for n in (5, 10) for fill in ("standard", "outlier")],
        dict(S=[33], n=100, seed=3),
        dict(S=[0], n=4),
    ],
    sizes={"4k": dict(S=[4096], n=3), "1m": dict(S=[1 << 20], n=5), "128m": dict(S=[1 << 27], n=3)},
)
def chebyshev_polynomial_t(input, n, out=None):
    return torch.special.chebyshev_polynomial_t(input, n, out=out)
