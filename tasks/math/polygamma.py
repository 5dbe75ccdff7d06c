"""Polygamma function of every element: the derivative of order n of digamma, which is that of log(gamma(x)).

For n >= 1 it is (-1) ** (n + 1) * n! times the sum of (x + k) ** -(n + 1) over k = 0, 1, 2, ..., for negative x, too;
n = 0 is digamma itself. `n` is an integer from 0 up; a negative one raises RuntimeError. The poles, 0 and the negative
integers, are not in `input`: PyTorch gives large numbers there, infinities or NaN.
"""

import torch

from pytest_kernelbenchx import fills, task


def beside_poles(rng, shape, dtype, kind):
    """Normal values; those that are poles in this type are mirrored to a positive integer."""
    x = fills.normal(2.0, 1.5)(rng, shape, kind).to(dtype)
    return torch.where((x <= 0) & (x == x.floor()), 1 - x, x)


@task(
    inputs={"input": "T[*S]"},
    output="T[*S]",
    dtypes=("f32", "f16", "bf16"),
    options={"n": [1, 2, 0, 3, 4, 7]},
    fill={"input": beside_poles},
    examples=[
        *[dict(input=[1.0, 0.5], n=n) for n in (1, 2, 3, 4)],
        *[dict(input=[0.1, 1.0, 2.5, 9.0, 11.0, 100.0, -0.5, -1.25, -6.75], n=n) for n in (0, 1, 2, 5)],
        *[dict(S=[1024], n=n, fill="both", out=True) for n in (1, 2)],
        dict(S=[0], n=1),
        dict(S=[3], n=-1, raises=RuntimeError),
    ],
    sizes={"4k": dict(S=[4096], n=1), "128m": dict(S=[1 << 27], n=1), "third": dict(S=[1 << 27], n=3)},
)
def polygamma(n, input, *, out=None):
    return torch.special.polygamma(n, input, out=out)
