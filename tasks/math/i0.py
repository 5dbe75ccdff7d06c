"""Modified Bessel function of the first kind of order 0 of every element: the sum over k of (x / 2)**2k / (k!)**2.

The function is even, 1 at 0, and grows like exp(|x|) / sqrt(2 pi |x|): past |x| = 92 a float32 result is infinite.
Relative accuracy is wanted at 0.1 as at 80.
"""

import torch

from pytest_kernelbenchx import fills, task


@task(
    inputs={"input_tensor": "T[*S]"},
    output="T[*S]",
    dtypes=("f32", "f16", "bf16"),
    fill={"input_tensor": fills.one_of(fills.uniform(-8, 8), fills.normal(std=20.0, low=-80, high=80))},
    examples=[
        dict(input_tensor=[0.0, 1.0, 2.0, -1.0, -2.0, 3.0, -3.0, 4.0, 0.5, 1.5, 2.5], out=True),
        dict(input_tensor=[7.99, 8.0, -8.01, 12.0]),
        dict(input_tensor=[0.0, 200.0, -1e30, float("nan")]),
        dict(S=[64, 64], fill="both"),
        dict(S=[0]),
    ],
    sizes={"4k": dict(S=[4096]), "1m": dict(S=[1 << 20]), "128m": dict(S=[1 << 27])},
)
def i0(input_tensor, out=None):
    return torch.special.i0(input_tensor, out=out)
