"""tanh(sqrt(x)) of every element. Negative numbers give NaN, large ones 1. Upstream ignores `out`."""

import torch

from pytest_kernelbenchx import fills, task


@task(
    inputs={"input": "T[*S]"},
    output="T[*S]",
    dtypes=("f32", "f16", "bf16"),
    fill={"input": fills.one_of(fills.positive(0.0), fills.uniform(0.0, 1e-3))},
    examples=[
        dict(input=[4.0, 9.0, 16.0, -1.0, -4.0, -9.0], out=True),
        dict(input=[0.0, 1e-6, 0.3, 1.0, 100.0, 1e30, -1e-6, float("inf"), -float("inf"), float("nan")]),
        dict(S=[64, 64], fill="both"),
        dict(S=[0]),
    ],
    sizes={"4k": dict(S=[4096]), "1m": dict(S=[1 << 20]), "128m": dict(S=[1 << 27])},
)
def sqrt_tanh(input, out=None):
    return torch.tanh(torch.sqrt(input), out=out)
