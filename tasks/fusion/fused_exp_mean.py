"""Mean of exponentials: mean(exp(input)) over `dim`.

`dim` is a dimension, a list or tuple of them, or None for all; they disappear, or stay with length 1 under
`keepdim=True`. With `dtype` the input is converted to it before anything is computed. Upstream ignores `dtype` and
`out`.
"""

import math

import torch

from pytest_kernelbenchx import Shapes, fills, some_dims_or_none, task


@task(
    inputs={"input": "T[*S]"},
    output="T[...]",
    dtypes=("f32", "f16", "bf16"),
    axes={"S": Shapes(1, 4)},
    fill={"input": fills.normal(high=10.0)},  # no exponential hides all others, or overflows float16
    options={"dim": some_dims_or_none, "dtype": [None, None, torch.float32, torch.float64]},
    examples=[
        dict(S=[65537], seed=21),  # the last element, alone in its part, is large
        dict(input=[[88.0, -1.0], [100.0, 0.0], [-200.0, -300.0], [-math.inf, 0.0]], dim=1),
        *[dict(S=[128, 256], dim=dim, keepdim=True, fill="both") for dim in (None, 0, 1)],
        dict(S=[70001]),
        dict(S=[33, 65], dim=1, dtype=torch.float64, out=True),
        dict(S=[0, 3], dim=1),
    ],
    sizes={"4k": dict(S=[4096]), "256m": dict(S=[1 << 28]), "rows": dict(S=[16384, 4096], dim=1, dtype="bf16")},
)
def fused_exp_mean(input, dim=None, keepdim=False, dtype=None, out=None):
    return torch.mean(torch.exp(input if dtype is None else input.to(dtype)), dim, keepdim=keepdim)
