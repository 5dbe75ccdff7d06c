"""Slices picked by index, then compared: index_select(input, dim, index) == other, element by element.

    output[.., k, ..] = input[.., index[k], ..] == other[.., k, ..]

`input` has one or more dimensions and any type; along `dim`, which may be negative, the result has the length of
`index`. Indices (int64) lie in 0 .. length - 1, may repeat and come in any order. `other` has the type of `input` and
broadcasts to the slices that were picked, or is a Python number. The result is boolean: values are equal exactly or
not at all, 0 equals -0, and NaN nothing. With `out` (boolean) the result is written there, whatever its strides, and it
is returned. Nothing else is mutated.
"""

import math

import torch

from pytest_kernelbenchx import Shapes, fills, task


def picked(S, K, dim):
    return [K if d == dim % len(S) else n for d, n in enumerate(S)]


def broadcasting(S, K):
    """Shapes of `other`: that of the slices, the same without the first dimension, a single element."""
    full = [picked(S, K, dim) for dim in range(len(S))]
    return [*full, *(shape[1:] for shape in full), [1] * len(S)]


def dimensions(S, K, O):  # noqa: E741
    ranked = [(dim, picked(S, K, dim)) for dim in range(-len(S), len(S))]
    return [dim for dim, full in ranked if O in (full, full[1:], [1] * len(S))]


def values(rng, shape, dtype, kind):
    """Small multiples of 1/2, so that there are equal ones; outliers among integers are what floats cannot hold."""
    small = torch.randint(-10, 11, shape, generator=rng)
    if dtype is torch.int64:
        large = torch.tensor([0, 2**24, 2**53])[torch.randint(3, shape, generator=rng)]
        return small + large if kind == "outlier" else small // 2
    return fills.with_outliers(small / 2, rng) if kind == "outlier" else small / 2


def rows(rng, shape, S, dim):
    return torch.randint(S[dim], shape, generator=rng)


def near(rng, shape, dtype, kind, input, index, dim):
    """What is picked, or a number right above it, or another one."""
    equal = torch.index_select(input, dim, index)
    equal = equal[(0,) * (equal.dim() - len(shape))][tuple(slice(n) for n in shape)]
    above = equal + 1 if dtype is torch.int64 else equal.double() * (1 + torch.finfo(dtype).eps)
    chosen, others = torch.rand(shape, generator=rng), values(rng, shape, dtype, kind)
    near = torch.where(chosen < 0.5, equal, torch.where(chosen < 0.8, above, others))
    return torch.where(others.abs() > 10, others, near)


MATRIX = dict(input=[[1, 2, 3], [4, 5, 6]], dtype="i64")


@task(
    inputs={"input": "T[*S]", "index": "i64[K]", "other": "T[*O] | number"},
    output="bool[...]",
    dtypes=("f32", "f16", "bf16", "i64"),
    axes={"S": Shapes(1, 4), "K": [1, 2, 3, 7, 16, 17, 31, 65], "O": broadcasting},
    fill={"input": values, "index": rows, "other": near},
    options={"dim": dimensions},
    where=lambda S, K, dim: K * torch.Size(S).numel() // S[dim] <= 2**15,
    examples=[
        dict(MATRIX, dim=0, index=[0, 1], other=[[1, 2, 3], [4, 5, 6]]),
        dict(MATRIX, dim=1, index=[0, 2], other=[[1, 3], [4, 6]]),
        dict(MATRIX, dim=1, index=[1], other=2),
        dict(MATRIX, dim=-2, index=[1, 1, 0], other=[1, 5, 6], O=[3]),
        dict(
            input=[0.0, 1.0, math.nan, -math.inf],
            dim=0,
            index=[0, 1, 2, 3],
            other=[-0.0, 1.0000001, math.nan, -math.inf],
        ),
        *[
            dict(S=[128, 64], dim=0, K=32, O=[32, 64], dtype=dtype, fill=fill)
            for dtype in ("i64", "f32")
            for fill in ("standard", "outlier")
        ],
        dict(S=[3, 1025], dim=0, K=7, O=[7, 1025], out=True),
        dict(S=[5, 3], dim=0, K=0, O=[0, 3]),
    ],
    sizes={
        "512": dict(S=[4096, 128], K=512, dim=0, other=0.5, O=[]),
        "32k": dict(S=[262144, 128], K=32768, dim=0, other=0.5, O=[]),
        "512k": dict(S=[1 << 20, 128], K=1 << 19, dim=0, O=[1 << 19, 128]),
    },
    bytes=lambda S, K, O, dim, itemsize: (  # noqa: E741
        (1 + itemsize) * K * torch.Size(S).numel() // S[dim] + itemsize * torch.Size(O).numel() + 8 * K
    ),
)
def fused_index_select_eq(input, dim, index, other, *, out=None):
    return torch.eq(torch.index_select(input, dim, index), other)
