"""A copy of `input`, with elements of `src` put where `index` says along a dimension.

    output = input, then output[index[i, j, k], j, k] = src[i, j, k] for every i, j, k of `index`    (dim = 0 of three)

`input` has any shape of at least one dimension, `src` as many dimensions; no dimension of `index` (int64) is longer
than that of `src`, nor, other than along `dim`, than that of `input`. Indices lie in 0 .. input.shape[dim] - 1, and no
place is named twice. Of `src`, what lies beyond the shape of `index` is not used.
"""

import torch
from hypothesis import strategies as st

from pytest_kernelbenchx import Shapes, dims, task


def around(P):
    """Shapes of `input` and `src`: not shorter than `index` in any dimension."""
    return st.one_of(st.just(P), st.tuples(*[st.sampled_from((n, n + 1, n + 5, 2 * n)) for n in P]).map(list))


def places(rng, shape, S, dim):
    """Different places along `dim`, in any order."""
    sizes = [S[d] if d == dim % len(S) else n for d, n in enumerate(shape)]
    return torch.rand(sizes, generator=rng).argsort(dim).narrow(dim, 0, shape[dim])


@task(
    inputs={"input": "T[*S]", "index": "i64[*P]", "src": "T[*Q]"},
    output="T[*S]",
    dtypes=("f32", "f16", "bf16", "i64"),
    axes={"P": Shapes(1, 4), "S": around, "Q": around},
    where=lambda S, P, Q: max(torch.Size(S).numel(), torch.Size(Q).numel()) <= 4 * torch.Size(P).numel() + 64,
    fill={"index": places},
    options={"dim": dims},
    tolerance={"exact": True},
    examples=[
        dict(input="zeros", S=[4, 3], dim=0, index=[[0, 1, 2], [1, 2, 0]], Q=[2, 3]),
        dict(S=[2, 3, 4], dim=2, P=[2, 3, 2], Q=[2, 3, 2], layout={"index": "expanded"}),
        dict(S=[4, 64, 128], dim=2, P=[4, 64, 32], Q=[4, 64, 32], fill="both"),
        dict(S=[65, 5, 9], dim=-3, P=[33, 4, 2], Q=[40, 5, 9], dtype="f16"),
        dict(S=[5000], dim=0, P=[4097], Q=[4097], dtype="i64", fill="outlier"),
        dict(S=[3, 4], dim=0, P=[0, 4], Q=[2, 4]),
        dict(input="zeros", S=[3, 4], dim=1, index=[[0, 2], [1, 3], [2, 0]], Q=[3, 2]),
    ],
    sizes={
        "32k": dict(S=[256, 128], dim=0, P=[128, 128], Q=[128, 128]),
        "1m": dict(S=[8192, 128], dim=0, P=[4096, 128], Q=[4096, 128]),
        "32m": dict(S=[4096, 8192], dim=0, P=[2048, 8192], Q=[2048, 8192]),
        "rows": dict(S=[65536, 512], dim=1, P=[65536, 256], Q=[65536, 256]),
    },
    bytes=lambda S, P, itemsize: 2 * itemsize * torch.Size(S).numel() + 8 * torch.Size(P).numel(),
)
def scatter(input, dim, index, src):
    return torch.scatter(input, dim, index, src)
