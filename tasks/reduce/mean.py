"""Mean over one or several dimensions.

`input_tensor` has any shape and a floating-point type, or an integer one if `dtype` is given (else it is an error).
`dim` is a dimension, a list or tuple of them, or None for all; they may be negative. The dimensions disappear, or stay
with length 1 under `keepdim=True`. The result has the input's type (16-bit ones are summed in float32). With `dtype`, a
floating-point type, every element is converted to that type before it is added, and the result has it; float64 is
summed in float64. The mean over no elements is NaN. With `out` the result is written there and it is returned.
"""

import itertools

import torch

from pytest_kernelbenchx import Shapes, task


def dims(S):
    """None, one dimension or several, counted from the front or the back."""
    rank = len(S)
    several = [c for k in range(1, rank + 1) for c in itertools.combinations(range(rank), k)]
    return [None, *range(-rank, rank), *several, *([n - rank for n in c] for c in several[::-1])]


@task(
    inputs={"input_tensor": "T[*S]"},
    output="T[...]",
    dtypes=("f32", "f16", "bf16", "i32"),
    axes={"S": Shapes(1, 4, min_side=0)},
    options={
        "dim": dims,
        "keepdim": [False, True],
        "dtype": lambda dtype: [*([] if dtype == "i32" else [None, None]), torch.float64, torch.float32],
    },
    examples=[
        dict(input_tensor=[[1.0, 2.0], [3.0, 4.0]], dim=0),
        dict(input_tensor=[[1.0, 2.0], [3.0, 4.0]], dim=1, keepdim=True, out=True),
        dict(input_tensor=[[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]], dim=[0, 2]),
        dict(input_tensor=torch.tensor([[1, 2], [3, 4]], dtype=torch.int32), dim=0, dtype=torch.float32),
        *[dict(S=[8, 16, 32], dim=dim, fill=fill) for dim in ([0, 2], 1, -1) for fill in ("standard", "outlier")],
        dict(S=[70001], dim=0),
        dict(S=[3, 0], dim=1),
        dict(S=[3], dim=0, dtype="i32", raises=RuntimeError),
    ],
    sizes={
        "4k": dict(S=[4096], dim=0),
        "1m": dict(S=[1 << 20], dim=0),
        "128m": dict(S=[1 << 27], dim=0),
        "columns": dict(S=[16384, 4096], dim=0, dtype="bf16"),
    },
)
def mean(input_tensor, dim, keepdim=False, dtype=None, out=None):
    return torch.mean(input_tensor, dim, keepdim=keepdim, dtype=dtype, out=out)
