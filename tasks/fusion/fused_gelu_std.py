"""Standard deviation of GELU: std(gelu(input, approximate)) over `dim`.

    std(x) = sqrt(sum((x - mean(x)) ** 2) / max(0, n - correction)),  n values of x at a time

`dim` is a dimension, a list or tuple of them, or None for all; they disappear, or stay with length 1 under
`keepdim=True`. Division by 0 gives NaN or inf. Upstream never passes `out`.
"""

import math

import torch

from pytest_kernelbenchx import Shapes, some_dims_or_none, task


def count(S, dim):
    return math.prod(S[d] for d in (range(len(S)) if dim is None else [dim] if isinstance(dim, int) else dim))


@task(
    inputs={"input": "T[*S]"},
    output="T[...]",
    dtypes=("f32", "f16", "bf16"),
    axes={"S": Shapes(1, 4)},
    options={"dim": some_dims_or_none, "correction": [1, 0, 2, 5]},
    # where 0 divides, rounding may decide whether that is 0 / 0
    where=lambda S, dim, correction: count(S, dim) == 1 or count(S, dim) > correction,
    examples=[
        dict(input=[1000.0, 1000.5, 1001.0, 1001.5]),
        dict(input=[[0.5], [-2.0]], dim=1),
        dict(S=[3, 2], dim=1, correction=3),
        *[dict(S=[128, 256], dim=dim, approximate="tanh", fill="both") for dim in (None, 0, 1)],
        dict(S=[70001], correction=0, out=True),
        dict(S=[0, 3], dim=1),
    ],
    sizes={"4k": dict(S=[4096]), "128m": dict(S=[1 << 27]), "rows": dict(S=[16384, 4096], dim=1, dtype="bf16")},
)
def fused_gelu_std(input, dim=None, keepdim=False, correction=1, approximate="none", out=None):
    activated = torch.nn.functional.gelu(input, approximate=approximate)
    return torch.std(activated, dim, correction=correction, keepdim=keepdim)
