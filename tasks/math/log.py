"""Natural logarithm of every element. 0 gives -inf, negative numbers give NaN, inf gives inf."""

import torch

from pytest_kernelbenchx import fills, task


@task(
    inputs={"input": "T[*S]"},
    output="T[*S]",
    dtypes=("f32", "f16", "bf16"),
    fill={"input": fills.positive(0.001)},
    examples=[
        dict(input=[1.0, 2.0, 3.0, 0.0, -0.0, -1.0, -2.0], out=True),
        dict(input=[0.9999, 1.0001, 1.001]),
        dict(input=[2e-38, 1e-10, 1e10, 3e38, float("inf"), -float("inf"), float("nan")]),
        dict(S=[64, 64], fill="both"),
        dict(S=[0]),
    ],
    sizes={"4k": dict(S=[4096]), "1m": dict(S=[1 << 20]), "128m": dict(S=[1 << 27])},
)
def log(input, out=None):
    return torch.log(input, out=out)
