"""Absolute value of every element. Zeros of either sign give 0, infinities inf. The result is exact or wrong."""

import torch

from pytest_kernelbenchx import task


@task(
    inputs={"input_tensor": "T[*S]"},
    output="T[*S]",
    dtypes=("f32", "f16", "bf16"),
    tolerance={"exact": True},
    examples=[
        dict(input_tensor=[-5.0, 0.0, -0.0, 2.0], out=True),
        dict(input_tensor=[-1e10, 1e10, -1e-10, float("nan"), float("inf"), -float("inf")]),
        dict(S=[64, 64], fill="both"),
        dict(S=[0]),
    ],
    sizes={"4k": dict(S=[4096]), "1m": dict(S=[1 << 20]), "128m": dict(S=[1 << 27])},
)
def abs(input_tensor, out=None):
    return torch.abs(input_tensor, out=out)
