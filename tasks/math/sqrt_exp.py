"""exp(sqrt(x)) of every element. Negative numbers give NaN, 0 gives 1, inf gives inf."""

import torch

from pytest_kernelbenchx import fills, task


@task(
    inputs={"input": "T[*S]"},
    output="T[*S]",
    dtypes=("f32", "f16", "bf16"),
    fill={"input": fills.positive(0.0)},
    examples=[
        dict(input=[0.25, 1.0, 4.0, 9.0, 0.0], out=True),
        dict(input=[-1.0, -1e-6, 1e-6, 100.0, 1e4, float("inf"), -float("inf"), float("nan")]),
        dict(S=[64, 64], fill="both"),
        dict(S=[0]),
    ],
    sizes={"4k": dict(S=[4096]), "1m": dict(S=[1 << 20]), "128m": dict(S=[1 << 27])},
)
def sqrt_exp(input, out=None):
    return torch.exp(torch.sqrt(input), out=out)
