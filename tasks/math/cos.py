"""Cosine of every element, an angle in radians of any number of turns. Infinities give NaN."""

import torch

from pytest_kernelbenchx import fills, task


@task(
    inputs={"input_tensor": "T[*S]"},
    output="T[*S]",
    dtypes=("f32", "f16", "bf16"),
    fill={"input_tensor": fills.one_of(fills.normal(), fills.normal(std=100.0))},
    examples=[
        dict(input_tensor=[0.0, -1.571, 1.571, 3.142]),
        dict(input_tensor=[-0.0, 1e-8, 6.2831855, 10000.0, -32768.5, float("inf"), -float("inf"), float("nan")]),
        dict(input_tensor=[(2 * i / 999 - 1) * 3.14159265 for i in range(1000)]),
        dict(S=[64, 64], fill="both"),
        dict(S=[0]),
    ],
    sizes={"4k": dict(S=[4096]), "1m": dict(S=[1 << 20]), "128m": dict(S=[1 << 27])},
)
def cos(input_tensor):
    return torch.cos(input_tensor)
