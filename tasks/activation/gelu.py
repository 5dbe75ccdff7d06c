"""Gaussian error linear unit of every element.

    approximate="none": x / 2 * (1 + erf(x / sqrt(2)))
    approximate="tanh": x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x ** 3)))

The two forms differ by up to 5e-4, so that one cannot stand for the other. Any other `approximate` is a RuntimeError.
"""

import torch

from pytest_kernelbenchx import fills, task

FORMS = ("none", "tanh")


@task(
    inputs={"input": "T[*S]"},
    output="T[*S]",
    dtypes=("f32", "f16", "bf16"),
    fill={"input": fills.for_gelu},
    examples=[
        *[dict(input=[-10.0, -3.0, -2.0, -1.0, 0.0, 1.0, 2.0], approximate=form) for form in FORMS],
        *[dict(input=[-2.5, -3.0, -3.5], approximate=form, dtype="bf16") for form in FORMS],
        *[dict(S=[128, 129], approximate=form, fill="both") for form in FORMS],
        dict(input=[100.0, -100.0, 1e-3, -1e-3, float("inf"), float("nan")], approximate="tanh"),
        dict(S=[3], approximate="erf", raises=RuntimeError),
        dict(S=[0]),
    ],
    sizes={"4k": dict(S=[4096]), "1m": dict(S=[1 << 20]), "128m": dict(S=[1 << 27])},
)
def gelu(input, approximate="none"):
    return torch.nn.functional.gelu(input, approximate=approximate)
