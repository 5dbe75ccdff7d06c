"""Logistic function of every element: 1 / (1 + exp(-x)). Large arguments give 0 and 1, never NaN."""

import torch

from pytest_kernelbenchx import task


@task(
    inputs={"input": "T[*S]"},
    output="T[*S]",
    dtypes=("f32", "f16", "bf16"),
    examples=[
        dict(input=[[0.0, 1.0], [-1.0, 2.0], [0.5, -0.5]], out=True),
        dict(input=[-20.0, 20.0, 90.0, -90.0, 1000.0, -1000.0, float("inf"), -float("inf"), float("nan")]),
        dict(S=[128, 129], fill="both"),
        dict(S=[0]),
    ],
    sizes={"4k": dict(S=[4096]), "1m": dict(S=[1 << 20]), "128m": dict(S=[1 << 27])},
)
def sigmoid(input, out=None):
    return torch.sigmoid(input, out=out)
