"""A copy of `input` with its dimensions in the order `dims`: result[i_0, i_1, ..] has i_k along dimension dims[k].

`input` has any shape (none and empty ones too) and any type; the result's length along k is that of `input` along
dims[k]. `dims` is a list (or tuple) with each dimension once, also counted from the end. The result is contiguous, so
that elements really move. Upstream's reference keeps the order in memory and moves nothing, and a view passes there.
"""

import torch
from hypothesis import strategies as st

from pytest_kernelbenchx import Shapes, task


def orders(S):
    """Permutations, some counted from the end."""
    rank = len(S)
    return st.one_of(st.permutations(range(rank)), st.permutations(range(-rank, 0)).map(tuple))


@task(
    inputs={"input": "T[*S]"},
    output="T[...]",
    dtypes=("f32", "f16", "bf16", "i64", "bool"),
    axes={"S": Shapes(0, 5, min_side=0)},
    options={"dims": orders},
    tolerance={"exact": True},
    examples=[
        dict(input=[[1, 2], [3, 4]], dims=[1, 0], dtype="i64"),
        dict(S=[4, 8, 16, 32], dims=[3, 0, 2, 1], fill="both"),
        dict(S=[65, 129], dims=(-1, -2)),
        dict(S=[3, 1025, 2], dims=[2, 1, 0], dtype="f16"),
        dict(S=[5, 0, 3], dims=[1, 2, 0]),
        dict(S=[], dims=[]),
        dict(S=[2, 3], dims=[0, 0], raises=RuntimeError),
        dict(S=[2, 3, 4, 5], dims=[3, 2, 0, 1], dtype="i64", fill="outlier"),
    ],
    sizes={
        "4k": dict(S=[8, 8, 8, 8], dims=[3, 2, 1, 0]),
        "1m": dict(S=[32, 32, 32, 32], dims=[3, 2, 1, 0]),
        "128m": dict(S=[128, 128, 128, 64], dims=[3, 2, 1, 0]),
        "heads": dict(S=[32, 2048, 16, 128], dims=[0, 2, 1, 3], dtype="f16"),
    },
    bytes=lambda S, itemsize: 2 * torch.Size(S).numel() * itemsize,
)
def permute_copy(input, dims):
    return torch.permute_copy(input, dims)
