"""Minimum of GELU: min(gelu(input, approximate)), of all elements or along one dimension.

With `dim=None` the result is a scalar tensor, whatever `keepdim` says. With `dim` it is a pair: the minima along that
dimension, and their places (int64) in it, any of several that are equal up to rounding; the dimension disappears, or
stays with length 1 under `keepdim=True`. GELU falls to -0.17 at -0.75 before it rises to 0. NaN counts as the least.
`out` is a tensor or (with `dim`) a pair of them; upstream never passes it.

Upstream computes x / 2 * erf(x / sqrt(2)) instead of x / 2 * (1 + erf(x / sqrt(2))) for "none".
"""

import math

import torch
from torch.nn.functional import gelu

from pytest_kernelbenchx import Shapes, dims_or_none, fills, minimum_of, task


def shifted(rng, shape, kind):
    """Rows around different means, since the least that GELU gives is the same for all long rows around 0."""
    return fills.normal()(rng, shape, kind) + 3 * torch.randn([*shape[:-1], 1], generator=rng)


@task(
    inputs={"input": "T[*S]"},
    output=["T[...]", "i64[...] | None"],
    dtypes=("f32", "f16", "bf16"),
    axes={"S": Shapes(1, 4)},
    fill={"input": shifted},
    options={"dim": dims_or_none},
    properties=minimum_of(lambda input, approximate: gelu(input, approximate=approximate)),
    examples=[
        dict(input=[[3.0, -8.0, 2.0], [0.25, 7.0, 1e4], [-1.0, math.nan, 0.0]], dim=1),
        dict(S=[4096], approximate="tanh", fill="both"),
        dict(S=[64, 128], dim=1, fill="both"),
        dict(S=[70001], out=True),
        dict(S=[2, 1025], dim=-1, keepdim=True, dtype="f16", out=True),
    ],
    sizes={"4k": dict(S=[4096]), "128m": dict(S=[1 << 27]), "rows": dict(S=[16384, 4096], dim=1, dtype="bf16")},
)
def fused_gelu_min(input, approximate="none", dim=None, keepdim=False, out=None):
    activated = gelu(input, approximate=approximate)
    return torch.min(activated) if dim is None else torch.min(activated, dim, keepdim=keepdim)
