"""Mean of exponentials: mean(exp(input)) over `dim`.

`input` has any shape and a floating-point type. `dim` is a dimension, a list or tuple of them, or None for all. The
dimensions disappear, or stay with length 1 under `keepdim=True`. The result has input's type, 16-bit inputs being
computed in float32; or it has `dtype`, to which the input is converted before anything is computed, float64 in float64.
With `out` the result is written there and it is returned. Upstream ignores `dtype` and `out`.
"""

import itertools

import torch

from pytest_kernelbenchx import Shapes, fills, task


def dims(S):
    """None, one dimension or several, counted from the front or the back."""
    rank = len(S)
    several = [c for k in range(1, rank + 1) for c in itertools.combinations(range(rank), k)]
    return [None, *range(-rank, rank), *several, *([n - rank for n in c] for c in several[::-1])]


def bounded(rng, shape, kind):
    """No exponential is so large that nothing else counts, or overflows float16."""
    return fills.normal()(rng, shape, kind).clamp(max=10.0)


@task(
    inputs={"input": "T[*S]"},
    output="T[...]",
    dtypes=("f32", "f16", "bf16"),
    axes={"S": Shapes(1, 4)},
    fill={"input": bounded},
    options={"dim": dims, "keepdim": [False, True], "dtype": [None, None, torch.float32, torch.float64]},
    examples=[
        dict(input=[1.0, 2.0, 3.0]),
        dict(input=[[1.0, 2.0], [3.0, 4.0]], dim=0),
        dict(input=[[1.0, 2.0], [3.0, 4.0]], dim=1, keepdim=True),
        dict(input=[[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]]),
        dict(input=[[88.0, -1.0], [100.0, 0.0], [-200.0, -300.0], [-float("inf"), 0.0]], dim=1),
        *[
            dict(S=[128, 256], dim=dim, keepdim=True, fill=fill)
            for dim in (None, 0, 1)
            for fill in ("standard", "outlier")
        ],
        dict(S=[70001]),
        dict(S=[3, 17, 5], dim=(0, 2)),
        dict(S=[33, 65], dim=1, dtype=torch.float64, out=True),
        dict(S=[0, 3], dim=1),
    ],
    sizes={
        "4k": dict(S=[4096]),
        "1m": dict(S=[1 << 20]),
        "256m": dict(S=[1 << 28]),
        "rows": dict(S=[16384, 4096], dim=1, dtype="bf16"),
    },
)
def fused_exp_mean(input, dim=None, keepdim=False, dtype=None, out=None):
    return torch.mean(torch.exp(input if dtype is None else input.to(dtype)), dim, keepdim=keepdim)
