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


def picked(S, K, dim):
    return [K if d == dim % len(S) else n for d, n in enumerate(S)]


def broadcasting(S, K):
    """Shapes of `other`: that of the slices, the same without the first dimension, a single element."""
    full = [picked(S, K, dim) for dim in range(len(S))]
    return [*full, *(shape[1:] for shape in full), [1] * len(S)]


def along(S, K, P):
    return [dim for dim in dims(S) if P in (picked(S, K, dim), picked(S, K, dim)[1:], [1] * len(S))]


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
    inputs={"input": "T[*S]", "index": "i64[K]", "other": "T[*P] | number"},
    output="bool[...]",
    dtypes=("f32", "f16", "bf16", "i64"),
    axes={"S": Shapes(1, 4), "K": [1, 2, 3, 7, 16, 17, 31, 65], "P": broadcasting},
    fill={"input": values, "index": fills.along_dim, "other": near},
    options={"dim": along},
    where=lambda S, K, dim: K * math.prod(S) // S[dim] <= 2**15,
    examples=[
        dict(input=[[1, 2, 3], [4, 5, 6]], dim=1, index=[1], other=2, dtype="i64"),
        dict(input=[[1, 2, 3], [4, 5, 6]], dim=-2, index=[1, 1, 0], other=[1, 5, 6], P=[3], dtype="i64"),
        dict(input=[0.0, 1.0, math.nan], dim=0, index=[0, 1, 2], other=[-0.0, 1.0000001, math.nan]),
        dict(input=[-math.inf, math.inf], dim=0, index=[0, 1], other=-math.inf),
        dict(S=[128, 64], dim=0, K=32, P=[32, 64], dtype=("i64", "f32"), fill="both"),
        dict(S=[3, 1025], dim=0, K=7, P=[7, 1025], out=True),
        dict(S=[5, 3], dim=0, K=0, P=[0, 3]),
    ],
    sizes={
        "512": dict(S=[4096, 128], K=512, dim=0, other=0.5, P=[]),
        "32k": dict(S=[262144, 128], K=32768, dim=0, other=0.5, P=[]),
        "512k": dict(S=[1 << 20, 128], K=1 << 19, dim=0, P=[1 << 19, 128]),
    },
    bytes=lambda S, K, P, dim, itemsize: (1 + itemsize) * K * math.prod(S) // S[dim] + itemsize * math.prod(P) + 8 * K,
)
def fused_index_select_eq(input, dim, index, other, *, out=None):
    return torch.eq(torch.index_select(input, dim, index), other)
