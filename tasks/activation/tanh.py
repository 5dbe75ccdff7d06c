"""Hyperbolic tangent of every element. Large arguments give -1 and 1. `out_tensor` is what is `out` elsewhere."""

import torch

from pytest_kernelbenchx import task


@task(
    inputs={"input_tensor": "T[*S]"},
    output="T[*S]",
    out="out_tensor",
    dtypes=("f32", "f16", "bf16"),
    examples=[
        dict(input_tensor=[[0.0, 1.0], [-1.0, 0.5], [-0.5, 2.0]], out=True),
        dict(input_tensor=[1e-4, -0.01, 0.1, 9.0, -9.0, 100.0, float("inf"), -float("inf")]),
        dict(S=[100, 100], fill="both"),
        dict(S=[0]),
    ],
    sizes={"4k": dict(S=[4096]), "1m": dict(S=[1 << 20]), "128m": dict(S=[1 << 27])},
)
def tanh(input_tensor, out_tensor=None):
    return torch.tanh(input_tensor, out=out_tensor)
