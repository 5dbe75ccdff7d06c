"""Undo of fftshift: along each dimension the elements move round by -(n // 2), so that the middle one comes first.

    output[i] = input[(i + n // 2) % n]

`input` has any type; `dim` is a dimension, or a tuple or list of different ones, by default all. For odd n this is not
fftshift.
"""

import torch

from pytest_kernelbenchx import Shapes, some_dims_or_none, task


@task(
    inputs={"input": "T[*S]"},
    output="T[*S]",
    dtypes=("f32", "f16", "bf16", "i64"),
    axes={"S": Shapes(1, 4)},
    options={"dim": some_dims_or_none},
    tolerance={"exact": True},
    examples=[
        dict(input=[0, 1, 2, 3, 4, 5, 6, 7], dtype="i64"),
        *[dict(input=[[0, 1, 2], [3, 4, 5], [6, 7, 8]], dtype="i64", dim=dim) for dim in (None, 0, -1)],
        dict(input=[[[0, 1], [2, 3]], [[4, 5], [6, 7]]], dtype="i64", dim=(1, 2)),
        *[dict(S=[64, 64], dim=dim, fill="both") for dim in (None, 0, (1, 0))],
        dict(S=[33, 65], dim=(-1,)),
        dict(S=[5, 3, 7]),
    ],
    sizes={"4k": dict(S=[4096]), "128m": dict(S=[1 << 27]), "2d_8k": dict(S=[8191, 8193], dim=(0, 1))},
)
def ifftshift(input, dim=None):
    return torch.fft.ifftshift(input, dim)
