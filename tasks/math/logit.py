"""log(x / (1 - x)) for every element.

`input` has any shape and a floating-point type; the result has the same shape and type. With `eps` x is first clamped
to [eps, 1 - eps], where eps is one that the type can tell from 0 and 1; without it 0 and 1 give -inf and inf, and what
lies outside of [0, 1] gives NaN. With `out` the result is written there, whatever its strides, and it is returned.
"""

import torch

from pytest_kernelbenchx import Shapes, fills, task


def squashed(rng, shape, kind):
    """Sigmoids of normal values; 50-fold outliers come close to 0 and 1, or reach them."""
    return torch.sigmoid(fills.normal()(rng, shape, kind))


@task(
    inputs={"input": "T[*S]"},
    output="T[*S]",
    dtypes=("f32", "f16", "bf16"),
    axes={"S": Shapes(0, 4, min_side=0)},
    fill={"input": squashed},
    options={"eps": lambda dtype: [None, 1e-6, 1e-3, 0.1, 0.0] if dtype == "f32" else [None, 0.01, 0.1]},
    examples=[
        dict(input=[0.2, 0.5, 0.8]),
        dict(input=[0.0, 0.5, 1.0], eps=1e-6),
        dict(input=[0.1, 0.9], eps=1e-6, out=True),
        dict(input=[0.3, 0.7], out=True),
        dict(input=[0.0, 1.0, -0.5, 1.5, float("nan")]),
        dict(input=[0.0, 1.0, -0.5, 1.5, float("nan")], eps=0.25),
        *[dict(S=[1024], eps=1e-6, fill=fill) for fill in ("standard", "outlier")],
        dict(S=[0]),
    ],
    sizes={"4k": dict(S=[4096]), "1m": dict(S=[1 << 20]), "128m": dict(S=[1 << 27])},
)
def logit(input, eps=None, out=None):
    return torch.special.logit(input, eps, out=out)
