"""Slices picked by index, then compared: index_select(input, dim, index) == other, element by element.

    output[.., k, ..] = input[.., index[k], ..] == other[.., k, ..]

`input` has one or more dimensions and any type; along `dim` the result has the length of `index`. Indices (int64) lie
in 0 .. length - 1, may repeat and come in any order. `other` has the type of `input` and broadcasts to the slices that
were picked, or is a Python number. The result is boolean, as is `out`: values are equal exactly or not at all, 0 equals
-0, and NaN nothing.
"""

import math

import torch

from pytest_kernelbenchx import Shapes, dims, fills, task


def picked(S, K):
    """Shapes of the slices, for every dimension that they may be picked along."""
    return [[*S[:dim], K, *S[dim + 1 :]] for dim in range(len(S))]


def values(rng, shape, dtype, kind):
    """Small multiples of 1/2, so that there are equal ones; outliers among integers are what floats cannot hold."""
    small = torch.randint(-10, 11, shape, generator=rng)
    if dtype is torch.int64:
        large = torch.tensor([0, 2**24, 2**53])[torch.randint(3, shape, generator=rng)]
        return small + large if kind == "outlier" else small // 2
    return fills.with_outliers(small / 2, rng) if kind == "outlier" else small / 2


def near(rng, shape, dtype, kind, input, index, dim):
    """What is picked, or a number right above it, or another one."""
    equal = torch.index_select(input, dim, index)
    equal = equal[(0,) * (equal.dim() - len(shape))][tuple(slice(n) for n in shape)]
    above = equal + 1 if dtype is torch.int64 else equal.double() * (1 + torch.finfo(dtype).eps)
    chosen, others = torch.rand(shape, generator=rng), values(rng, shape, dtype, kind)
    near = torch.where(chosen < 0.5, equal, torch.where(chosen < 0.8, above, others))
    return torch.where(others.abs() > 10, others, near)


@task(
    inputs={"input": "T[*S]", "index": "i64[K]", "other": "T[*P~] | number"},
    output="bool[*P]",
    dtypes=("f32", "f16", "bf16", "i64"),
    axes={"S": Shapes(1, 4), "K": [1, 2, 3, 7, 16, 17, 31, 65], "P": picked},
    fill={"input": values, "index": fills.along_dim, "other": near},
    options={"dim": lambda S, K, P: [dim for dim in dims(S) if picked(S, K)[dim] == P]},
    where=lambda P: math.prod(P) <= 2**15,
    examples=[
        dict(input=[[1, 2, 3], [4, 5, 6]], dim=1, index=[1], other=2, P=[2, 1], dtype="i64"),
        dict(input=[[1, 2, 3], [4, 5, 6]], dim=-2, index=[1, 1, 0], other=[1, 5, 6], P=[3, 3], dtype="i64"),
        dict(input=[0.0, 1.0, math.nan], dim=0, index=[0, 1, 2], other=[-0.0, 1.0000001, math.nan], P=[3]),
        dict(input=[-math.inf, math.inf], dim=0, index=[0, 1], other=-math.inf, P=[2]),
        dict(S=[128, 64], dim=0, K=32, P=[32, 64], dtype=("i64", "f32"), fill="both"),
        dict(S=[3, 1025], dim=0, K=7, P=[7, 1025], out=True),
        dict(S=[5, 3], dim=0, K=0, P=[0, 3]),
    ],
    sizes={str(k): dict(S=[8 * k, 128], K=k, P=[k, 128], dim=0, other=0.5) for k in (512, 32768, 1 << 18)},
    bytes=lambda K, P, itemsize: (1 + itemsize) * math.prod(P) + 8 * K,  # `other` is a number
)
def fused_index_select_eq(input, dim, index, other, *, out=None):
    return torch.eq(torch.index_select(input, dim, index), other)
