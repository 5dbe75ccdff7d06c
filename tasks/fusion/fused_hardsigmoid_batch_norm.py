"""Batch normalisation, then hard sigmoid: min(max(y / 6 + 1 / 2, 0), 1) of y = (x - mean) / sqrt(var + eps) * weight +
bias, for every channel (dimension 1).

`x` is [N, C, ...]; the others are vectors of length C, float32 also where `x` has 16 bits. `weight` and `bias` may each
be left out (1 and 0). With `training=False` mean and variance are `running_mean` and `running_var`. With
`training=True` they are those of the batch over all dimensions but 1, the variance divided by the count n of values per
channel (at least 2), and the running statistics change in place: r becomes (1 - momentum) * r + momentum * new, the new
variance divided by n - 1. `inplace` has no effect that can be seen.
"""

import math

from torch.nn import functional

from pytest_kernelbenchx import Shapes, fills, task

RUNNING = dict.fromkeys(("running_mean", "running_var"), "f32[C]")
AFFINE = dict.fromkeys(("weight", "bias"), "f32[C] | None")
ALL = dict(weight=True, bias=True)


@task(
    inputs={"x": "T[N, C, *S]", **RUNNING, **AFFINE},
    output="T[N, C, *S]",
    dtypes=("f32", "f16", "bf16"),
    axes={"S": Shapes(0, 3, longest=33)},
    fill={"running_var": fills.positive(), "running_mean": fills.normal(0.5)},
    options={"momentum": [0.1, 0.2, 0.0, 1.0], "eps": [1e-5, 1e-3, 0.1]},
    where=lambda N, S, training: N * math.prod(S) > 1 or not training,
    mutates=tuple(RUNNING),
    examples=[
        dict(N=10, C=3, S=[8, 8], running_mean="zeros", running_var="ones"),
        *[dict(N=4, C=8, S=[16, 16], **ALL, training=training, fill="both") for training in (False, True)],
        dict(N=3, C=2, S=[61, 67], **ALL, training=True, momentum=0.3, inplace=True),
        dict(N=1025, C=3, S=[], bias=True, training=True),
    ],
    sizes={
        "8": dict(N=1, C=64, S=[8, 8], **ALL),
        "1448": dict(N=1, C=64, S=[1448, 1449], **ALL),
        "training": dict(N=64, C=256, S=[56, 56], **ALL, training=True),
    },
)
def fused_hardsigmoid_batch_norm(
    x, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-5, inplace=False
):
    y = functional.batch_norm(x, running_mean, running_var, weight, bias, training, momentum, eps)
    return functional.hardsigmoid(y, inplace)
