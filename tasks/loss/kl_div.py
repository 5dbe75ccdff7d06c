"""Kullback-Leibler divergence of a distribution from another one whose logarithms are given, reduced.

    target * (log(target) - input)        or, with log_target, exp(target) * (target - input)

`input` holds log-probabilities, `target` probabilities, or with `log_target=True` log-probabilities, both in the same
shape. A target of 0 loses 0. `reduction="none"` returns the losses in that shape; "sum" adds them up, "batchmean", the
default here, divides the sum by the length of the first dimension, and "mean" by the number of elements. Any other
`reduction` raises ValueError.
"""

import torch

from pytest_kernelbenchx import Shapes, fills, task


def logarithms(rng, shape, kind):
    """Log-probabilities along the last dimension; outliers among their logits make some of them very small."""
    return torch.log_softmax(fills.normal()(rng, shape, kind), -1)


def distribution(rng, shape, kind, log_target):
    """Probabilities or their logarithms; about one probability in sixteen is 0."""
    values = logarithms(rng, shape, kind)
    return values if log_target else torch.where(fills.bernoulli(1 / 16)(rng, shape), 0.0, values.exp())


@task(
    inputs={"input": "T[*S]", "target": "T[*S]"},
    output="T[...]",
    dtypes=("f32", "f16", "bf16"),
    axes={"S": Shapes(1, 4)},
    fill={"input": logarithms, "target": distribution},
    options={"reduction": ["batchmean", "mean", "sum", "none"]},
    examples=[
        dict(input=[[-1.0, -2.0, -3.0]], target=[[0.0, 1.0, 0.0]], reduction="none"),
        *[dict(S=[16, 33], log_target=log_target, fill="both") for log_target in (False, True)],
        dict(S=[16, 33], reduction="none", fill="both"),
        dict(S=[2, 2, 5003]),
        dict(S=[257, 5], reduction="mean"),
        dict(S=[2, 3], reduction="median", raises=ValueError),
    ],
    sizes={
        "256": dict(S=[256, 1024]),
        "64k": dict(S=[65536, 1024]),
        "none_64k": dict(S=[65536, 1024], reduction="none", log_target=True, dtype="bf16"),
    },
)
def kl_div(input, target, reduction="batchmean", log_target=False):
    return torch.nn.functional.kl_div(input, target, reduction=reduction, log_target=log_target)
