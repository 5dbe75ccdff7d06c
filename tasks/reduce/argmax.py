"""Where the maximum stands: the index, int64, of the largest element along a dimension.

With `dim=None` the index is that into the flattened tensor. The dimension disappears, or stays with length 1 under
`keepdim=True` (all of them for `dim=None`). Among equal maxima the lowest index wins, which upstream leaves open, and
NaN is larger than everything. Integers are compared exactly.
"""

import torch

from pytest_kernelbenchx import Shapes, task


@task(
    inputs={"input_tensor": "T[*S]"},
    output="i64[...]",
    dtypes=("f32", "f16", "bf16", "i64", "i32"),
    axes={"S": Shapes(1, 4)},
    options={"dim": lambda S: [*range(-len(S), len(S)), None], "keepdim": [False, True]},
    examples=[
        dict(input_tensor=[[1, 3, 2], [4, 0, 5]], dim=0, dtype="i64"),
        dict(input_tensor=[[1, 3, 2], [4, 0, 5]], dim=1, dtype="i64"),
        dict(input_tensor=[[[3, 7, 1], [2, 12, 5]], [[9, 4, 8], [10, 6, 11]]], dim=2, dtype="i64"),
        dict(input_tensor=[[[3, 7, 1], [2, 12, 5]], [[9, 4, 8], [10, 6, 11]]], dim=1, keepdim=True, dtype="i64"),
        dict(input_tensor=[2**60, 2**60 + 1, 2**60 + 1], dim=0, dtype="i64"),
        dict(input_tensor=[[1.0, float("nan"), float("inf"), float("nan")], [-float("inf")] * 4], dim=1),
        *[dict(S=[128, 256], dim=dim, fill=fill) for dim in (0, 1) for fill in ("standard", "outlier")],
        *[dict(S=[8, 16, 32], dim=d, keepdim=d == 1, fill=fill) for d in (2, 1) for fill in ("standard", "outlier")],
        dict(S=[70001], dim=0, dtype="f16"),
        dict(S=[20011, 3], dim=0, dtype="f16"),
    ],
    sizes={
        "4k": dict(S=[4096], dim=0, dtype="f16"),
        "1m": dict(S=[1 << 20], dim=0, dtype="f16"),
        "512m": dict(S=[1 << 29], dim=0, dtype="f16"),
        "rows": dict(S=[16384, 8192], dim=1),
    },
)
def argmax(input_tensor, dim, keepdim=False):
    return torch.argmax(input_tensor, dim, keepdim=keepdim)
