"""Chebyshev polynomial of the first kind, T_n(x), of every element.

`input` is float32, `n`, an integer from 0 up, the degree: T_0 = 1, T_1 = x, T_n = 2 x T_(n-1) - T_(n-2). Within [-1, 1]
that is cos(n arccos(x)); outside of it the polynomial is wanted as well. Upstream ignores `out`.
"""

import torch

from pytest_kernelbenchx import fills, task


@task(
    inputs={"input": "f32[*S]"},
    output="f32[*S]",
    options={"n": [0, 1, 2, 3, 4, 5, 6, 7, 10, 15, 20]},
    fill={"input": fills.one_of(fills.normal(std=0.5, low=-10, high=10), fills.uniform(-1, 1))},
    examples=[
        *[dict(input=[0.5, -0.5, 0.0], n=n) for n in (0, 1, 2, 3)],
        *[dict(input=[1.0, -1.0, 0.0, 1.0000001, -0.9999999, -1.5, 3.0], n=n) for n in (5, 8)],
        *[dict(S=[64, 64], n=n, fill="both", out=True) for n in (5, 10)],
        dict(S=[33], n=100, seed=3),
        dict(S=[0], n=4),
    ],
    sizes={"4k": dict(S=[4096], n=3), "1m": dict(S=[1 << 20], n=5), "128m": dict(S=[1 << 27], n=3)},
)
def chebyshev_polynomial_t(input, n, out=None):
    return torch.special.chebyshev_polynomial_t(input, n, out=out)
