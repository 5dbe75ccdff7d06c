"""The integer part, nearest towards zero, of every element. The result is exact or wrong.

NaN, infinities and elements of an integer type stay as they are.
"""

import torch

from pytest_kernelbenchx import fills, task


@task(
    inputs={"input": "T[*S]"},
    output="T[*S]",
    dtypes=("f32", "f16", "bf16", "i64"),
    fill={"input": fills.normal(std=20.0)},
    tolerance={"exact": True},
    examples=[
        dict(input=[1.5, -2.7, 3.3, -4.8, -0.1, 0.0, 0.1, 12350.0, -98770.0], out=True),
        dict(input=[1, -2, 3, -(2**53) - 1], dtype="i64"),
        dict(input=[-0.0, -0.99999994, 8388607.5, -8388609.0, 1e30, float("nan"), float("inf"), -float("inf")]),
        dict(S=[64, 64], fill="both"),
        dict(S=[0]),
    ],
    sizes={"4k": dict(S=[4096]), "1m": dict(S=[1 << 20]), "128m": dict(S=[1 << 27])},
)
def trunc(input, out=None):
    return torch.trunc(input, out=out)
