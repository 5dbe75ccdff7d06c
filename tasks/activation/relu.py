"""Rectified linear unit: max(x, 0) for every element.

With `inplace=True` `input` itself, whatever its strides, receives the result and is returned.
"""

import torch

from pytest_kernelbenchx import task


@task(
    inputs={"input": "T[*S]"},
    output="T[*S]",
    dtypes=("f32", "f16", "bf16"),
    mutates=("input",),
    examples=[
        *[dict(input=[-1.0, 0.0, 1.0], inplace=inplace) for inplace in (False, True)],
        dict(input=[[-1.0, 2.0, -3.0], [4.0, -5.0, 6.0]]),
        dict(input=[float("inf"), -float("inf"), -0.0]),
        dict(S=[256, 256], fill="both"),
        dict(S=[0]),
    ],
    sizes={"4k": dict(S=[4096]), "1m": dict(S=[1 << 20]), "128m": dict(S=[1 << 27])},
)
def relu(input, inplace=False):
    return torch.nn.functional.relu(input, inplace=inplace)
