"""Minimum of GELU over all elements or along a dimension.

`input` is float32 with one or more dimensions. With `dim=None` the result is a scalar tensor, whatever `keepdim` says.
With a dimension it is a tuple: the minima of gelu(input) along it, and the int64 index of each, the lowest among
equals; the dimension disappears from both, or stays with length 1 under `keepdim=True`. `out` is a tensor or (with a
dimension) a pair of them. Upstream's "none" lacks the "1 +" of GELU, so that its minimum is about 0 where the true one
is -0.17; it ignores `out`.

Elements are odd multiples of 1 / 128: then rounding does not decide which of two has the smaller GELU.
"""

import torch

from pytest_kernelbenchx import Shapes, dims_or_none, fills, task


def odd_multiples(rng, shape, kind):
    """Odd multiples of 1 / 128 between -2 and 6; outliers are 50 times as large, and not between -6 and -2."""
    values = (2 * torch.randint(-128, 384, shape, generator=rng) + 1) / 128
    values = fills.with_outliers(values, rng) if kind == "outlier" else values
    return torch.where((values > -6) & (values < -2), -values, values)


@task(
    inputs={"input": "f32[*S]"},
    output=("f32[...]", "i64[...] | None"),
    axes={"S": Shapes(1, 4)},
    fill={"input": odd_multiples},
    options={"dim": dims_or_none},
    examples=[
        *[dict(input=[1.0, -0.5, 0.0, 2.0], approximate=form) for form in ("none", "tanh")],
        *[dict(input=[[1.0, -0.5], [0.0, 2.0]], dim=1, keepdim=keep, out=keep) for keep in (False, True)],
        *[dict(S=[4096], approximate=form, fill="both") for form in ("none", "tanh")],
        *[dict(S=[64, 256], dim=dim, keepdim=dim == 1, fill="both") for dim in (0, 1)],
        dict(input=[[-2.0], [3.0]], dim=1, approximate="tanh"),
        dict(S=[70001]),
    ],
    sizes={
        "4k": dict(S=[4096], dim=0),
        "128m": dict(S=[1 << 27], dim=0),
        "rows": dict(S=[16384, 4096], dim=1, approximate="tanh"),
    },
)
def min_gelu(input, dim=None, keepdim=False, approximate="none", out=None):
    values = torch.nn.functional.gelu(input, approximate=approximate)
    return torch.min(values, out=out) if dim is None else tuple(torch.min(values, dim, keepdim=keepdim, out=out))
