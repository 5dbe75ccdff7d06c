"""Negative log-likelihood of class indices.

`input` holds log-probabilities, [N, C] or [N, C, ...]; `target` holds class indices (int64) in the same shape without
C, each in 0 .. C - 1 or equal to `ignore_index`. The loss of an entry is -weight[t] * input[t] along dimension 1,
`weight` [C] being 1 where it is not given; an ignored entry loses 0. `reduction="none"` returns the losses, "sum" adds
them up, "mean" divides that sum by the sum of weight[t] over the entries that are not ignored (NaN if there are none).
Any other `reduction` raises ValueError.
"""

import math

import torch

from pytest_kernelbenchx import Shapes, fills, task


def log_probabilities(rng, shape, kind):
    return torch.log_softmax(fills.normal()(rng, shape, kind), 1)


@task(
    inputs={"input": "T[N, C, *S]", "target": "i64[N, *S]", "weight": "T[C] | None"},
    output="T[...]",
    dtypes=("f32", "f16", "bf16"),
    axes={"S": Shapes(0, 2, longest=33), "C": [2, 3, 5, 10, 17, 32, 33, 64, 97, 128, 129, 257, 1000]},
    fill={"input": log_probabilities, "target": fills.classes, "weight": fills.uniform(0.1, 2.0)},
    options={"ignore_index": [-100, -1, 0]},
    examples=[
        dict(N=4, C=3, S=[], target=[0, 1, 2, 0], weight=[1.0, 2.0, 1.5]),
        dict(N=4, C=3, S=[], target=[0, -100, 2, 1], ignore_index=-100),
        *[dict(N=32, C=10, S=[], weight=weight, fill="both") for weight in (False, True)],
        dict(N=2, C=3, S=[5, 7], weight=True, ignore_index=0),
        dict(N=3001, C=3, S=[], weight=True, reduction="sum"),
        dict(N=2, C=3, S=[], target=[-100, -100]),
        dict(N=2, C=3, S=[], reduction="median", raises=ValueError),
    ],
    sizes={
        "32k": dict(N=32768, C=1000, S=[]),
        "4m": dict(N=1 << 22, C=64, S=[]),
        "pixels": dict(N=8, C=32, S=[1024, 1024]),
    },
    bytes=lambda N, S, itemsize: N * math.prod(S) * (itemsize + 8),
)
def nll_loss(input, target, weight=None, ignore_index=-100, reduction="mean"):
    return torch.nn.functional.nll_loss(input, target, weight, ignore_index=ignore_index, reduction=reduction)
