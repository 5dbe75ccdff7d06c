"""Slices of `input` along `dim`, picked by a vector of indices: result[.., k, ..] = input[.., index[k], ..].

`input` has one or more dimensions and any type; along `dim` the result has the length of `index`. Indices (int64) lie
in 0 .. length - 1, may repeat and come in any order.
"""

import torch

from pytest_kernelbenchx import Shapes, dims, task


@task(
    inputs={"input": "T[*S]", "index": "i64[K]"},
    output="T[...]",
    dtypes=("f32", "f16", "bf16", "i64"),
    axes={"S": Shapes(1, 4), "K": [1, 2, 3, 7, 16, 17, 31, 65]},
    fill={"index": lambda rng, shape, S, dim: torch.randint(S[dim], shape, generator=rng)},
    options={"dim": dims},
    tolerance={"exact": True},
    examples=[
        dict(S=[6, 4], dim=0, index=[0, 2, 5]),
        dict(S=[8, 32, 256], dim=2, K=64, fill="both"),
        dict(S=[3, 5000], dim=0, K=7),
        dict(S=[5, 3], dim=0, K=0),
        dict(S=[2, 3, 4], dim=-2, index=[2, 2, 0, 2]),
    ],
    sizes={
        "4k": dict(S=[4096, 256], K=512, dim=0),
        "all": dict(S=[262144, 512], K=262144, dim=0),
        "columns": dict(S=[4096, 16384], K=8192, dim=1),
    },
    bytes=lambda S, K, dim, itemsize: 2 * itemsize * K * torch.Size(S).numel() // S[dim] + 8 * K,
)
def index_select(input, dim, index):
    return torch.index_select(input, dim, index)
