"""Mean of a scaled sum: mean(input + alpha * other) over `dim`.

`other` broadcasts to `input`, or is a number. `dim` is a dimension, a list or tuple of them, or None for all; they
disappear, or stay with length 1 under `keepdim=True`. With `dtype` the mean is taken, and returned, in that type.
Upstream ignores `out`.
"""

import torch

from pytest_kernelbenchx import Shapes, some_dims_or_none, task


@task(
    inputs={"input": "T[*S]", "other": "T[*S~] | number"},
    output="T[...]",
    dtypes=("f32", "f16", "bf16"),
    axes={"S": Shapes(1, 4)},
    options={
        "dim": some_dims_or_none,
        "alpha": [1, 2, 0.5, -1.25, 0],
        "dtype": [None, None, torch.float32, torch.float64],
    },
    examples=[
        dict(input=[[1.0, 2.0], [3.0, 4.0]], other=[[0.5, 0.5], [0.5, 0.5]], dim=0, alpha=2),
        *[dict(S=[128, 256], dim=dim, alpha=0.5, keepdim=True, fill="both") for dim in (None, 0, 1)],
        dict(S=[70001]),
    ],
    sizes={"4k": dict(S=[4096]), "128m": dict(S=[1 << 27]), "rows": dict(S=[16384, 4096], dim=1, dtype="bf16")},
)
def fused_add_mean(input, other, dim=None, alpha=1, keepdim=False, dtype=None, out=None):
    return torch.mean(torch.add(input, other, alpha=alpha), dim, keepdim=keepdim, dtype=dtype)
