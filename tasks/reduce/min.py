"""Minimum along a dimension: a tuple of the smallest elements and of where they stand (int64 indices).

`input_tensor` has one or more dimensions and any floating-point or integer type. The dimension disappears from both
results, or stays with length 1 under `keepdim=True`. Among equal minima the lowest index wins, which upstream leaves
open, and NaN is smaller than everything. Integers are compared exactly. A dimension of length 0 is an IndexError.
"""

import torch

from pytest_kernelbenchx import Shapes, dims, task


@task(
    inputs={"input_tensor": "T[*S]"},
    output=("T[...]", "i64[...]"),
    dtypes=("f32", "f16", "bf16", "i64", "i32"),
    axes={"S": Shapes(1, 4)},
    options={"dim": dims},
    tolerance={"exact": True},
    examples=[
        *[dict(input_tensor=x, dim=0, dtype="i64") for x in ([[1, 2, 3], [4, 0, 6]], [2**60 + 1, 2**60, 2**60])],
        dict(input_tensor=[[[3, 7, 1], [2, 12, 5]], [[9, 4, 8], [0, 6, 11]]], dim=2, keepdim=True, dtype="i64"),
        dict(input_tensor=[[1.0, float("nan"), -float("inf"), float("nan")], [float("inf")] * 4], dim=1),
        *[dict(S=[64, 129], dim=dim, fill="both") for dim in (0, 1)],
        dict(S=[70001], dim=0, dtype="f16"),
        dict(S=[0, 3], dim=0, raises=IndexError),
    ],
    sizes={
        "64": dict(S=[64, 1024], dim=0),
        "256k": dict(S=[262144, 1024], dim=0),
        "rows": dict(S=[16384, 8192], dim=1),
    },
)
def min(input_tensor, dim, keepdim=False):
    return tuple(torch.min(input_tensor, dim, keepdim=keepdim))
