"""Batch normalisation, then the logistic function: 1 / (1 + exp(-y)) of y = (x - mean) / sqrt(var + eps) * weight +
bias, with mean, var, weight and bias of the element's channel (dimension 1).

`input` holds x, [N, C] or [N, C, ...]; the others are vectors of length C, float32 also where `input` has 16 bits, and
the result is as `input`. `weight` and `bias` may each be left out (1 and 0). With `training=False` mean and variance
are `running_mean` and `running_var`. With `training=True` they are those of the batch over all dimensions but 1, the
variance divided by the count n of values per channel (at least 2), and the running statistics change in place, whatever
their strides: r becomes (1 - momentum) * r + momentum * new, the new variance divided by n - 1.
"""

import torch

from pytest_kernelbenchx import Shapes, fills, task

VECTORS = {"running_mean": "f32[C]", "running_var": "f32[C]", "weight": "f32[C] | None", "bias": "f32[C] | None"}
ALL = dict(weight=True, bias=True)


@task(
    inputs={"input": "T[N, C, *S]", **VECTORS},
    output="T[N, C, *S]",
    dtypes=("f32", "f16", "bf16"),
    axes={"S": Shapes(0, 3, longest=33)},
    fill={"running_var": fills.positive(), "running_mean": fills.normal(0.5)},
    options={"momentum": [0.1, 0.2, 0.0, 1.0], "eps": [1e-5, 1e-3, 0.1]},
    where=lambda N, S, training: N * torch.Size(S).numel() > 1 or not training,
    mutates=("running_mean", "running_var"),
    examples=[
        dict(N=10, C=5, S=[], running_mean="zeros", running_var="ones"),
        *[dict(N=64, C=128, S=[], **ALL, training=training, fill="both") for training in (False, True)],
        dict(N=3, C=2, S=[61, 67], **ALL, training=True),
        dict(N=10, C=5, S=[], momentum=0.2, eps=1e-3, training=True),
    ],
    sizes={
        "128": dict(N=32, C=128, S=[], **ALL),
        "32k": dict(N=32, C=32768, S=[], **ALL),
        "4m": dict(N=32, C=1 << 22, S=[], **ALL),
        "training": dict(N=64, C=256, S=[56, 56], **ALL, training=True, dtype="f16"),
    },
)
def fused_sigmoid_batch_norm(
    input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-5
):
    statistics = (running_mean, running_var, weight, bias)
    return torch.sigmoid(torch.nn.functional.batch_norm(input, *statistics, training, momentum, eps))
