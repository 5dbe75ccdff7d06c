"""1 / x of every element. Zeros give infinities of their sign, infinities zeros."""

import torch

from pytest_kernelbenchx import fills, task


def off_zero(rng, shape, kind):
    values = fills.normal()(rng, shape, kind)
    return torch.where(values.abs() < 1e-3, 1e-3, values)


@task(
    inputs={"input": "T[*S]"},
    output="T[*S]",
    dtypes=("f32", "f16", "bf16"),
    fill={"input": off_zero},
    examples=[
        dict(input=[-0.4595, -2.122, -1.431, 0.7298, 1.0, -1.0, 2.0], out=True),
        dict(input=[1e10, -1e10, 1e-10, -1e-10]),
        dict(input=[0.0, -0.0, float("inf"), -float("inf"), float("nan")]),
        dict(S=[64, 64], fill="both"),
        dict(S=[0]),
    ],
    sizes={"4k": dict(S=[4096]), "1m": dict(S=[1 << 20]), "128m": dict(S=[1 << 27])},
)
def reciprocal(input, out=None):
    return torch.reciprocal(input, out=out)
