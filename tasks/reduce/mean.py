"""Mean over one or several dimensions.

`input_tensor` has a floating-point type, or an integer one if `dtype` is given (else it is a RuntimeError). `dim` is a
dimension, a list or tuple of them, or None for all. The dimensions disappear, or stay with length 1 under
`keepdim=True`. With `dtype`, a floating-point type, every element is converted to that type before it is added, and the
result has it; float64 is summed in float64. The mean over no elements is NaN.
"""

import torch

from pytest_kernelbenchx import Shapes, some_dims_or_none, task


@task(
    inputs={"input_tensor": "T[*S]"},
    output="T[...]",
    dtypes=("f32", "f16", "bf16", "i32"),
    axes={"S": Shapes(1, 4, min_side=0)},
    options={
        "dim": some_dims_or_none,
        "dtype": lambda dtype: [*([] if dtype == "i32" else [None, None]), torch.float64, torch.float32],
    },
    examples=[
        *[dict(input_tensor=[[1.0, 2.0], [3.0, 4.0]], dim=dim, keepdim=dim == 1, out=True) for dim in (0, 1)],
        dict(input_tensor=[[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]], dim=[0, 2]),
        dict(input_tensor=torch.tensor([[1, 2], [3, 4]], dtype=torch.int32), dim=0, dtype=torch.float32),
        *[dict(S=[8, 16, 32], dim=dim, fill="both") for dim in ([0, 2], 1, -1)],
        dict(S=[70001], dim=0),
        dict(S=[3, 0], dim=1),
        dict(S=[3], dim=0, dtype="i32", raises=RuntimeError),
    ],
    sizes={
        "4k": dict(S=[4096], dim=0),
        "128m": dict(S=[1 << 27], dim=0),
        "columns": dict(S=[16384, 4096], dim=0, dtype="bf16"),
    },
)
def mean(input_tensor, dim, keepdim=False, dtype=None, out=None):
    return torch.mean(input_tensor, dim, keepdim=keepdim, dtype=dtype, out=out)
