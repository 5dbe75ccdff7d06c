"""Where the maximum stands: the index, int64, of the largest element along a dimension.

With `dim=None` the index is that into the flattened tensor. The dimension disappears, or stays with length 1 under
`keepdim=True` (all of them for `dim=None`). Among equal maxima the lowest index wins, which upstream leaves open, and
NaN is larger than everything. Integers are compared exactly.
"""

import torch

from pytest_kernelbenchx import Shapes, dims_or_none, task

CUBE = [[[3, 7, 1], [2, 12, 5]], [[9, 4, 8], [10, 6, 11]]]


@task(
    inputs={"input_tensor": "T[*S]"},
    output="i64[...]",
    dtypes=("f32", "f16", "bf16", "i64", "i32"),
    axes={"S": Shapes(1, 4)},
    options={"dim": dims_or_none},
    examples=[
        *[dict(input_tensor=CUBE, dim=dim, keepdim=dim == 1, dtype="i64") for dim in (0, 1, 2)],
        dict(input_tensor=[2**60, 2**60 + 1, 2**60 + 1], dim=0, dtype="i64"),
        dict(input_tensor=[[1.0, float("nan"), float("inf"), float("nan")], [-float("inf")] * 4], dim=1),
        *[dict(S=[128, 256], dim=dim, fill="both") for dim in (0, 1)],
        *[dict(S=S, dim=0, dtype="f16") for S in ([70001], [20011, 3])],
    ],
    sizes={
        "4k": dict(S=[4096], dim=0, dtype="f16"),
        "512m": dict(S=[1 << 29], dim=0, dtype="f16"),
        "rows": dict(S=[16384, 8192], dim=1),
    },
)
def argmax(input_tensor, dim, keepdim=False):
    return torch.argmax(input_tensor, dim, keepdim=keepdim)
