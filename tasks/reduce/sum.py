"""Sum over one or several dimensions.

`dim` is a dimension, or a list or tuple of them. The summed dimensions disappear, or stay with length 1 under
`keepdim=True`. Integers are summed in int64, which the result has. With `dtype` every element is converted to that type
before it is added, and the result has it; float64 is summed in float64. The sum over an empty dimension is 0.
"""

import torch

from pytest_kernelbenchx import Shapes, some_dims, task


@task(
    inputs={"input": "T[*S]"},
    output="T[...]",
    dtypes=("f32", "f16", "bf16", "i64", "i32"),
    axes={"S": Shapes(1, 4, min_side=0)},
    options={
        "dim": some_dims,
        # large integers that cancel in float32 leave what the order of the sum decides
        "dtype": lambda dtype: [None, None, torch.float64, torch.int64 if dtype[0] == "i" else torch.float32],
    },
    examples=[
        *[dict(input=[[1, 2, 3], [4, 5, 6]], dim=dim, keepdim=dim == 1, dtype="i64") for dim in (0, 1)],
        dict(input=[[[1, 2], [3, 4]], [[5, 6], [7, 8]]], dim=[0, 2], dtype="i64"),
        dict(input=[[1.0, 2.0], [3.0, 4.0]], dim=1, dtype=torch.float64),
        dict(S=[32, 64, 128], dim=[1, 2], fill="both"),
        dict(S=[100003], dim=0),
        dict(S=[3, 0], dim=1),
    ],
    sizes={
        "4k": dict(S=[4096], dim=0),
        "128m": dict(S=[1 << 27], dim=0),
        "columns": dict(S=[16384, 4096], dim=0, dtype="bf16"),
    },
)
def sum(input, dim, keepdim=False, dtype=None):
    return torch.sum(input, dim, keepdim=keepdim, dtype=dtype)
