"""Arc sine of every element, in radians, from -pi / 2 to pi / 2. What lies outside of [-1, 1] gives NaN."""

import torch

from pytest_kernelbenchx import fills, task


@task(
    inputs={"input_tensor": "T[*S]"},
    output="T[*S]",
    dtypes=("f32", "f16", "bf16"),
    fill={"input_tensor": fills.one_of(fills.uniform(-1, 1), fills.uniform(-1e-3, 1e-3))},
    examples=[
        dict(input_tensor=[0.0, 0.5, -0.5, 0.707, 0.9, -0.9, 1.0, -1.0]),
        dict(input_tensor=[0.99999994, -0.9999, -1.0000001, 2.0, float("inf"), float("nan")]),
        dict(input_tensor=[1e-20, -3e-15, 2e-15]),
        dict(S=[64, 64], fill="both"),
        dict(S=[0]),
    ],
    sizes={"4k": dict(S=[4096]), "1m": dict(S=[1 << 20]), "128m": dict(S=[1 << 27])},
)
def asin(input_tensor):
    return torch.asin(input_tensor)
