"""Standard deviation of GELU: std(gelu(input, approximate)) over `dim`.

    std(x) = sqrt(sum((x - mean(x)) ** 2) / max(0, n - correction)),  n values of x at a time

`input` has any shape and a floating-point type, which the result has, too; 16-bit types are computed in float32. `dim`
is a dimension, a list or tuple of them, or None for all. The dimensions disappear, or stay with length 1 under
`keepdim=True`. Division by 0 gives NaN or inf. GELU of x is x * Phi(x), Phi the standard normal distribution function;
with `approximate="tanh"` it is x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x ** 3))). With `out`, which upstream
never passes, the result is written there and it is returned.
"""

import itertools
import math

import torch

from pytest_kernelbenchx import Shapes, task


def dims(S):
    """None, one dimension or several, counted from the front or the back."""
    rank = len(S)
    several = [c for k in range(1, rank + 1) for c in itertools.combinations(range(rank), k)]
    return [None, *range(-rank, rank), *several, *([n - rank for n in c] for c in several[::-1])]


def corrections(S, dim):
    """Those below the number of values."""
    count = math.prod(S if dim is None else [S[dim]] if isinstance(dim, int) else [S[d] for d in dim])
    return [n for n in (1, 0, 2, 5) if n < count]


@task(
    inputs={"input": "T[*S]"},
    output="T[...]",
    dtypes=("f32", "f16", "bf16"),
    axes={"S": Shapes(1, 4)},
    options={"dim": dims, "keepdim": [False, True], "correction": corrections, "approximate": ["none", "tanh"]},
    examples=[
        dict(S=[10]),
        *[dict(S=[10, 20], dim=1, keepdim=keepdim) for keepdim in (False, True)],
        dict(S=[10], approximate="tanh"),
        dict(input=[1000.0, 1000.5, 1001.0, 1001.5]),
        dict(input=[[0.5], [-2.0]], dim=1),
        dict(S=[3, 2], dim=1, correction=3),
        *[
            dict(S=[128, 256], dim=dim, approximate="tanh", fill=fill)
            for dim in (None, 0, 1)
            for fill in ("standard", "outlier")
        ],
        dict(S=[70001], correction=0, out=True),
        dict(S=[0, 3], dim=1),
    ],
    sizes={
        "4k": dict(S=[4096]),
        "1m": dict(S=[1 << 20]),
        "128m": dict(S=[1 << 27]),
        "rows": dict(S=[16384, 4096], dim=1, approximate="tanh", dtype="bf16"),
    },
)
def fused_gelu_std(input, dim=None, keepdim=False, correction=1, approximate="none", out=None):
    activated = torch.nn.functional.gelu(input, approximate=approximate)
    return torch.std(activated, dim, correction=correction, keepdim=keepdim)
