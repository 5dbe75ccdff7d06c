"""Minimum of GELU: min(gelu(input, approximate)), of all elements or along one dimension.

`input` has one or more dimensions and a floating-point type. With `dim=None` the result is a scalar tensor of the same
type, whatever `keepdim` says. With `dim`, which may be negative, it is a pair: the minima along that dimension, and
their places (int64) in it, any of several that are equal up to rounding; the dimension disappears, or stays with length
1 under `keepdim=True`. GELU of x is x * Phi(x), Phi the standard normal distribution function, so that it falls to
-0.17 at x = -0.75 before it rises to 0; with `approximate="tanh"` it is
x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x ** 3))). NaN counts as the least. With `out`, a tensor or (with
`dim`) a pair of them, the result is written there and it is returned; upstream never passes it.

Upstream computes x / 2 * erf(x / sqrt(2)) instead of x / 2 * (1 + erf(x / sqrt(2))) for "none".
"""

import torch

from pytest_kernelbenchx import Shapes, minimum_of, task


def gelu(input, approximate):
    return torch.nn.functional.gelu(input, approximate=approximate)


@task(
    inputs={"input": "T[*S]"},
    output=["T[...]", "i64[...] | None"],
    dtypes=("f32", "f16", "bf16"),
    axes={"S": Shapes(1, 4)},
    options={
        "approximate": ["none", "tanh"],
        "dim": lambda S: [None, *range(-len(S), len(S))],
        "keepdim": [False, True],
    },
    properties=minimum_of(gelu),
    examples=[
        *[dict(input=[0.5, -0.5, 1.0, -1.0], approximate=how) for how in ("none", "tanh")],
        dict(input=[[0.5, -0.5], [1.0, -1.0]], dim=1),
        dict(input=[[0.5, -0.5], [1.0, -1.0]], dim=1, approximate="tanh", keepdim=True),
        dict(input=[[3.0, -8.0, 2.0], [0.25, 7.0, 1e4], [-1.0, float("nan"), 0.0]], dim=1),
        *[dict(S=[4096], approximate="tanh", fill=fill) for fill in ("standard", "outlier")],
        *[dict(S=[64, 128], dim=1, fill=fill) for fill in ("standard", "outlier")],
        dict(S=[70001], out=True),
        dict(S=[2, 1025], dim=-1, keepdim=True, dtype="f16", out=True),
        dict(S=[1], dim=0),
    ],
    sizes={
        "4k": dict(S=[4096]),
        "1m": dict(S=[1 << 20]),
        "128m": dict(S=[1 << 27]),
        "rows": dict(S=[16384, 4096], dim=1, dtype="bf16"),
    },
)
def fused_gelu_min(input, approximate="none", dim=None, keepdim=False, out=None):
    activated = gelu(input, approximate)
    return torch.min(activated) if dim is None else torch.min(activated, dim, keepdim=keepdim)
