"""Error function of every element: 2 / sqrt(pi) times the integral of exp(-t * t) from 0 to x.

It is odd, close to 2 * x / sqrt(pi) near 0, and -1 or 1 for large arguments.
"""

import torch

from pytest_kernelbenchx import task


@task(
    inputs={"input_tensor": "T[*S]"},
    output="T[*S]",
    dtypes=("f32", "f16", "bf16"),
    examples=[
        dict(input_tensor=[0.0, 0.5, -1.0, 2.0, 10.0, -10.0, float("inf"), -float("inf"), float("nan")]),
        dict(input_tensor=[1e-6, -1e-5, 1e-4, 0.001]),
        dict(input_tensor=[0.01 * n for n in range(-450, 451)]),
        dict(S=[64, 64], fill="both"),
        dict(S=[0]),
    ],
    sizes={"4k": dict(S=[4096]), "1m": dict(S=[1 << 20]), "128m": dict(S=[1 << 27])},
)
def erf(input_tensor):
    return torch.special.erf(input_tensor)
