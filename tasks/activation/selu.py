"""Scaled exponential linear unit of every element: scale * x where x > 0, scale * alpha * (exp(x) - 1) elsewhere.

    alpha = 1.6732632423543772, scale = 1.0507009873554805

Large negative arguments give -scale * alpha. With `inplace=True` `input` itself, whatever its strides, receives the
result and is returned. Upstream takes min(x, .) where min(0, .) belongs, which doubles what is positive, and ignores
`inplace`.
"""

import torch

from pytest_kernelbenchx import task


@task(
    inputs={"input": "T[*S]"},
    output="T[*S]",
    dtypes=("f32", "f16", "bf16"),
    mutates=("input",),
    examples=[
        dict(input=[-1.0, 0.0, 1.0, 2.0, 3.0]),
        dict(input=[-1.0, -2.0, -3.0], inplace=True),
        dict(input=[100.0, -100.0, 1e-3, -1e-3, float("inf"), -float("inf"), float("nan"), -0.0]),
        dict(S=[128, 129], fill="both"),
        dict(S=[0]),
    ],
    sizes={"4k": dict(S=[4096]), "1m": dict(S=[1 << 20]), "128m": dict(S=[1 << 27])},
)
def selu(input, inplace=False):
    return torch.nn.functional.selu(input, inplace=inplace)
