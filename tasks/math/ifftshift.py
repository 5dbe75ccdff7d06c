"""Undo of fftshift: along each dimension the elements move round by -(n // 2), so that the middle one comes first.

    output[i] = input[(i + n // 2) % n]

`input` has any shape and any type; `dim` is a dimension or a tuple of different ones, counted from the end if negative,
by default all. For odd n this is not fftshift. The result is a new tensor of the same shape and type. Nothing is
mutated.
"""

import torch
from hypothesis import strategies as st

from pytest_kernelbenchx import Shapes, task


def dimensions(S):
    rank = len(S)
    chosen = st.permutations(range(rank)).flatmap(lambda order: st.integers(1, rank).map(lambda n: tuple(order[:n])))
    return st.none() | st.integers(-rank, rank - 1) | chosen


@task(
    inputs={"input": "T[*S]"},
    output="T[*S]",
    dtypes=("f32", "f16", "bf16", "i64"),
    axes={"S": Shapes(1, 4)},
    options={"dim": dimensions},
    tolerance={"exact": True},
    examples=[
        dict(input=[0, 1, 2, 3, 4, 5, 6, 7], dtype="i64"),
        *[dict(input=[[0, 1, 2], [3, 4, 5], [6, 7, 8]], dtype="i64", dim=dim) for dim in (None, 0, -1)],
        dict(input=[[[0, 1], [2, 3]], [[4, 5], [6, 7]]], dtype="i64", dim=(1, 2)),
        *[dict(S=[64, 64], dim=dim, fill=fill) for dim in (None, 0, (0, 1)) for fill in ("standard", "outlier")],
        dict(S=[33, 65], dim=(-1,)),
        dict(S=[5, 3, 7]),
        dict(S=[4097]),
        dict(S=[1]),
    ],
    sizes={"4k": dict(S=[4096]), "1m": dict(S=[1 << 20]), "128m": dict(S=[1 << 27]), "2d_8k": dict(S=[8191, 8193])},
)
def ifftshift(input, dim=None):
    return torch.fft.ifftshift(input, dim)
