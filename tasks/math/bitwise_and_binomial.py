"""Binomial counts: how many of (input & other) * total_count independent trials succeed, each with probability p.

`input` and `other` are int32 or boolean, of the same shape, and none is negative; their bitwise and is how many batches
of `total_count` trials an element gets. `total_count` (float32 with integral values) and `probs` or `logits` (float32)
broadcast to that shape. p is `probs`, or 1 / (1 + exp(-logits)); both or neither of them is a ValueError. The result is
float32 of that shape.

Random numbers need not be PyTorch's, but they must differ after torch.manual_seed with another seed. Upstream asks for
PyTorch's own stream, and computes the bitwise and without using it: where it is 1, as in its tests or not at all, the
two agree.
"""

import torch

from pytest_kernelbenchx import Binomial, Shapes, fills, task


def trials_and_probability(input, other, total_count, probs, logits):
    return (input & other) * total_count, torch.sigmoid(logits) if probs is None else probs


def counts(rng, shape, kind):
    """Up to 5, outliers 10: many trials take long in the interpreter."""
    few = torch.randint(0, 6, shape, generator=rng)
    return torch.where(fills.with_outliers(torch.ones(shape), rng) != 1, 10, few) if kind == "outlier" else few


PAIR = dict(input=[1, 0, 1, 3], other=[1, 1, 0, 2], S=[4])
EITHER = {"probs": "f32[*S~] | None", "logits": "f32[*S~] | None"}


@task(
    inputs={"input": "T[*S]", "other": "T[*S]", "total_count": "f32[*S~]", **EITHER},
    output="f32[*S]",
    dtypes=("i32", "bool"),
    axes={"S": Shapes(1, 3, min_side=0)},
    fill={**dict.fromkeys(["input", "other"], fills.integers(0, 4)), "total_count": counts, "probs": fills.uniform()},
    where=lambda present: len(present) == 1,
    random=Binomial(trials_and_probability),
    examples=[
        dict(PAIR, total_count=[5.0] * 4, probs=[0.5, 0.1, 0.9, 1.0]),
        dict(PAIR, total_count=[10.0] * 4, logits=[0.0, -2.0, 2.0, -1.0]),
        *[dict({given: True}, S=[4099], fill="both") for given in EITHER],
        dict(S=[4099], dtype="bool", total_count=[60.0], probs=[0.4]),
        dict(input=[7] * 2000, other=[3] * 2000, total_count=[2.0], probs=[0.5]),
        dict(S=[40009], dtype="bool", total_count="ones", probs=[0.25]),  # normal numbers, rounded, are not good enough
        dict(PAIR, total_count=[1.0] * 4, raises=ValueError),
        dict(PAIR, total_count=[1.0] * 4, probs=[0.5] * 4, logits=[0.0] * 4, raises=ValueError),
    ],
    sizes={"4k": dict(S=[4096], probs=True), "1m": dict(S=[1 << 20], probs=True), "16m": dict(S=[1 << 24], probs=True)},
)
def bitwise_and_binomial(input, other, total_count, probs=None, logits=None):
    return torch.distributions.Binomial((input & other) * total_count, probs, logits).sample()
