"""The pair (x * 180 / pi, sqrt(x)) of every element x: degrees and square root, NaN for negative numbers."""

import torch

from pytest_kernelbenchx import fills, task


@task(
    inputs={"input": "T[*S]"},
    output=("T[*S]", "T[*S]"),
    dtypes=("f32", "f16", "bf16"),
    fill={"input": fills.positive(0.0)},
    examples=[
        dict(input=[3.142, 1.57, 0.785, 0.0, -3.142, -1.57, -0.785]),
        dict(input=[2e-38, 1e-10, 1e10, 3e36, float("inf"), float("nan")]),
        dict(S=[64, 64], fill="both"),
        dict(S=[0]),
    ],
    sizes={"4k": dict(S=[4096]), "1m": dict(S=[1 << 20]), "64m": dict(S=[1 << 26])},
)
def rad2deg_sqrt(input):
    return torch.rad2deg(input), torch.sqrt(input)
