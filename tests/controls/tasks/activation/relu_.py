"""The larger of every element and 0, written over `x`, which is returned; `x` may have any strides."""

import torch

from pytest_kernelbenchx import task


@task(
    inputs={"x": "f32[M, N]"},
    output="f32[M, N]",
    mutates=("x",),
    axes={"M": (1, 3, 17), "N": (1, 5, 64, 300)},
    examples=[dict(M=2, N=5), dict(M=3, N=300)],
    sizes={"64k": dict(M=256, N=256), "16m": dict(M=4096, N=4096)},
)
def relu_(x):
    return torch.relu_(x)
