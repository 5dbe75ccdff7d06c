"""Batch normalisation: (x - mean) / sqrt(var + eps) * weight + bias, for every channel (dimension 1).

`input` is [N, C] or [N, C, ...]; the others are vectors of length C, float32 also where `input` has 16 bits, and the
result is as `input`. `weight` and `bias` may each be left out (1 and 0). With `training=False` mean and variance are
`running_mean` and `running_var`. With `training=True` they are those of the batch over all dimensions but 1, the
variance divided by the count n of values per channel (at least 2), and the running statistics change in place, whatever
their strides: r becomes (1 - momentum) * r + momentum * new, the new variance divided by n - 1. Upstream never looks
at how they change.
"""

import math

import torch

from pytest_kernelbenchx import Shapes, fills, task

RUNNING = {"running_mean": "f32[C]", "running_var": "f32[C]"}
AFFINE = {"weight": "f32[C] | None", "bias": "f32[C] | None"}
ALL = dict(weight=True, bias=True)


@task(
    inputs={"input": "T[N, C, *S]", **RUNNING, **AFFINE},
    output="T[N, C, *S]",
    dtypes=("f32", "f16", "bf16"),
    axes={"S": Shapes(0, 3, longest=33)},
    fill={"running_var": fills.positive(), "running_mean": fills.normal(0.5)},
    options={"momentum": [0.1, 0.2, 0.0, 1.0], "eps": [1e-5, 1e-3, 0.1]},
    where=lambda N, S, training: N * math.prod(S) > 1 or not training,
    mutates=("running_mean", "running_var"),
    examples=[
        dict(N=2, C=3, S=[4, 4]),
        dict(N=2, C=3, S=[4, 4], momentum=0.2, eps=1e-3),
        dict(N=4, C=8, S=[16, 16], **ALL, training=True, fill="both"),
        dict(N=3, C=2, S=[97, 101], **ALL, training=True),
        dict(N=4099, C=3, S=[], weight=True, training=True),
    ],
    sizes={
        "small": dict(N=32, C=32, S=[16, 16], **ALL),
        "half_201m": dict(N=32, C=32, S=[1536, 128], **ALL, dtype="f16"),
        "training_51m": dict(N=64, C=256, S=[56, 56], **ALL, training=True),
    },
)
def batch_norm(input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-5):
    return torch.nn.functional.batch_norm(
        input, running_mean, running_var, weight, bias, training=training, momentum=momentum, eps=eps
    )
