"""1 / sqrt(x) of every element. 0 gives inf, inf gives 0, and negative numbers give NaN."""

import torch

from pytest_kernelbenchx import fills, task


@task(
    inputs={"input": "T[*S]"},
    output="T[*S]",
    dtypes=("f32", "f16", "bf16"),
    fill={"input": fills.positive()},
    examples=[
        dict(input=[1.0, 4.0, 9.0, 16.0, 25.0, -1.0, 0.0], out=True),
        dict(input=[-0.0, float("inf"), -float("inf"), float("nan")]),
        dict(input=[1e-30, 3e-30, 2e-29]),
        dict(input=[1e30, 3e35, 2e38]),
        dict(S=[64, 64], fill="both"),
        dict(S=[0]),
    ],
    sizes={"4k": dict(S=[4096]), "1m": dict(S=[1 << 20]), "128m": dict(S=[1 << 27])},
)
def rsqrt(input, out=None):
    return torch.rsqrt(input, out=out)
