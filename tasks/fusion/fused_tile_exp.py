"""Repetition of a tensor along its dimensions, then the exponential function: exp(tile(input, dims)).

    output[i, j, ...] = exp(input[i % input.shape[0], j % input.shape[1], ...])

`input` has any shape. `dims` is a list or tuple of non-negative numbers, how often `input` is repeated along each
dimension; the shorter one of `dims` and `input.shape` is first filled up with ones from the left, as in torch.tile.

Upstream puts new dimensions in front in place of tiling: of a tensor [3] and dims [2] it makes [2, 3], and not [6].
"""

import torch

from pytest_kernelbenchx import Shapes, task


def repeats(S):
    """For the last dimensions alone, for all, and for more than there are."""
    several = [1, 2, 3, 1, 2]
    lists = [several[i : i + n] for n in range(1, len(S) + 2) for i in range(3)]
    return [*lists, *map(tuple, lists)]


@task(
    inputs={"input": "T[*S]"},
    output="T[...]",
    dtypes=("f32", "f16", "bf16"),
    axes={"S": Shapes(0, 4)},
    options={"dims": repeats},
    examples=[
        dict(input=[1.0, 2.0, 3.0], dims=[2]),
        *[dict(S=S, dims=[2], fill="both") for S in ([256], [32, 32])],
        dict(S=[1025], dims=[3]),
        dict(S=[2, 3], dims=[2, 0]),
        dict(S=[], dims=[5]),
        dict(input=[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], dims=(2, 1, 3), out=True),
    ],
    sizes={
        **{label: dict(S=[n], dims=[2]) for label, n in (("4k", 4096), ("1m", 1 << 20), ("64m", 1 << 26))},
        "rows": dict(S=[16384], dims=[4096, 1], dtype="bf16"),
    },
)
def fused_tile_exp(input, dims, *, out=None):
    return torch.exp(torch.tile(input, dims))
