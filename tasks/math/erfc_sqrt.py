"""The pair (erfc(x), sqrt(x)) of every element x of `input`.

The complementary error function is 1 - erf(x), from 2 down to 0, and its small values past x = 3 are wanted to their
own accuracy: erfc(5) is 1.5e-12. The square root of a negative number is NaN.
"""

import torch

from pytest_kernelbenchx import fills, task


@task(
    inputs={"input": "T[*S]"},
    output=["T[*S]", "T[*S]"],
    dtypes=("f32", "f16", "bf16"),
    fill={"input": fills.one_of(fills.positive(0.0), fills.positive(3.0))},
    examples=[
        dict(input=[0.0, 1.0, 2.0, -1.0, -2.0, -3.0]),
        dict(input=[i / 16 for i in range(-70, 71)]),
        *[dict(input=[x, x + 0.25, x + 0.5]) for x in (5.0, 8.5)],
        dict(input=[-6.0, -0.1, 1e-8, 20.0, 1e30, float("inf"), -float("inf"), float("nan")]),
        dict(S=[64, 64], fill="both"),
        dict(S=[0]),
    ],
    sizes={"4k": dict(S=[4096]), "1m": dict(S=[1 << 20]), "128m": dict(S=[1 << 27])},
)
def erfc_sqrt(input):
    return torch.special.erfc(input), torch.sqrt(input)
