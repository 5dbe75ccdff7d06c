"""Elements gathered along a dimension, some of them then replaced: masked_fill(gather(input, dim, index), mask, value).

    output[i, j, k] = value if mask[i, j, k] else input[i, index[i, j, k], k]       for dim = 1 of three dimensions

`input` has any shape of at least one dimension, and any floating-point or integer type. `index` (int64) has as many
dimensions, is no longer than `input` in those other than `dim`, and holds 0 to input.shape[dim] - 1. `mask` is boolean
and broadcasts to `index`. `value` is a number that the type can hold. `dim` may be negative. `sparse_grad` concerns the
gradient alone. The result has the shape of `index` and the type of `input`; with `out`, which upstream never passes, it
is written there and returned. Nothing is mutated.
"""

import torch
from hypothesis import strategies as st

from pytest_kernelbenchx import Shapes, task


def gathered(S):
    """Shapes of `index`: shorter than `input` along every dimension but one."""
    sides = [[st.integers(1, 2 * n + 1 if d == dim else n) for d, n in enumerate(S)] for dim in range(len(S))]
    return st.one_of([st.tuples(*lengths).map(list) for lengths in sides])


def dimensions(S, P):
    rank = len(S)
    return [d for d in range(-rank, rank) if all(P[e] <= S[e] for e in range(rank) if e != d % rank)]


def into(rng, shape, S, dim):
    """Indices into the dimension that is gathered along."""
    return torch.randint(S[dim], shape, generator=rng)


SQUARE = dict(S=[2, 2], P=[2, 2], dim=1, dtype="i64")


@task(
    inputs={"input": "T[*S]", "index": "i64[*P]", "mask": "bool[*P~]"},
    output="T[*P]",
    dtypes=("f32", "f16", "bf16", "i64"),
    axes={"S": Shapes(1, 3), "P": gathered},
    fill={"index": into},
    options={
        "dim": dimensions,
        "value": lambda dtype: [-1.0, 0.0, 99, -5] if dtype == "i64" else [-1.0, 0.0, 99, 0.5],
        "sparse_grad": [False, True],
    },
    tolerance={"exact": True},
    examples=[
        dict(SQUARE, input=[[1, 2], [3, 4]], index=[[0, 1], [1, 0]], mask=[[True, False], [False, True]], value=-1.0),
        dict(
            input=[[5, 6, 7], [8, 9, 10]],
            **dict(index=[[0, 2], [1, 0]], mask=[[False, True], [True, False]]),
            **dict(S=[2, 3], P=[2, 2], dim=1, value=0.0, dtype="i64"),
        ),
        dict(SQUARE, value=99.0, sparse_grad=True),
        dict(S=[2, 4], P=[2, 4], dim=1, value=-5.0, dtype="i64"),
        *[dict(S=[64, 128], P=[64, 32], dim=1, value=-1.0, fill=fill) for fill in ("standard", "outlier")],
        dict(S=[257, 3], P=[600, 2], dim=0, value=0.5, mask=[[True, False]]),
        dict(S=[5000], P=[4097], dim=-1, value=2, dtype="f16"),
        dict(S=[3, 4, 5], P=[2, 9, 5], dim=-2, value=0.5, out=True),
        dict(S=[1], P=[1], dim=0, value=0.0),
    ],
    sizes={
        "32k": dict(S=[32, 1024], P=[32, 1024], dim=0, value=0.5),
        "4m": dict(S=[4096, 1024], P=[4096, 1024], dim=0, value=0.5),
        "32m": dict(S=[32768, 1024], P=[32768, 1024], dim=1, value=0.5),
    },
)
def fused_gather_masked_fill(input, dim, index, mask, value, *, sparse_grad=False, out=None):
    return torch.gather(input, dim, index, sparse_grad=sparse_grad).masked_fill(mask, value)
