"""Mean of a scaled sum: mean(input + alpha * other) over `dim`.

`input` has any shape and a floating-point type; `other` has the same type and broadcasts to it, or is a number. `dim`
is a dimension, a list or tuple of them, or None for all. The dimensions disappear, or stay with length 1 under
`keepdim=True`. The result has input's type, or `dtype`, in which the mean is then taken. With `out` the result is
written there and it is returned; upstream ignores `out`.
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
    inputs={"input": "T[*S]", "other": "T[*S~] | number"},
    output="T[...]",
    dtypes=("f32", "f16", "bf16"),
    axes={"S": Shapes(1, 4)},
    options={
        "dim": dims,
        "alpha": [1, 2, 0.5, -1.25, 0],
        "keepdim": [False, True],
        "dtype": [None, None, torch.float32, torch.float64],
    },
    examples=[
        dict(input=[1.0, 2.0, 3.0], other=[0.5, 0.5, 0.5]),
        dict(input=[1.0, 2.0, 3.0], other=0.5, alpha=2),
        dict(input=[[1.0, 2.0], [3.0, 4.0]], other=[[0.5, 0.5], [0.5, 0.5]], dim=0),
        dict(input=[[1.0, 2.0], [3.0, 4.0]], other=[[0.5, 0.5], [0.5, 0.5]], dim=1, keepdim=True),
        *[
            dict(S=[128, 256], dim=dim, alpha=0.5, keepdim=True, fill=fill)
            for dim in (None, 0, 1)
            for fill in ("standard", "outlier")
        ],
        dict(S=[70001]),
    ],
    sizes={
        "4k": dict(S=[4096]),
        "1m": dict(S=[1 << 20]),
        "128m": dict(S=[1 << 27]),
        "rows": dict(S=[16384, 4096], dim=1, dtype="bf16"),
    },
)
def fused_add_mean(input, other, dim=None, alpha=1, keepdim=False, dtype=None, out=None):
    return torch.mean(torch.add(input, other, alpha=alpha), dim, keepdim=keepdim, dtype=dtype)
