"""The larger of every element and 0; NaN stays NaN."""

import torch

from pytest_kernelbenchx import task


@task(
    inputs={"x": "f32[*S]"},
    output="f32[*S]",
    axes={"S": [[1], [5], [33], [3, 33], [257], [2, 3, 65], [1025], [2500]]},
    layouts=("contiguous",),
    examples=[dict(S=[5]), dict(S=[300]), dict(x=[1.0, -2.0, 0.5])],
    sizes={"64k": dict(S=[1 << 16]), "16m": dict(S=[1 << 24])},
)
def relu(x):
    return torch.relu(x)
