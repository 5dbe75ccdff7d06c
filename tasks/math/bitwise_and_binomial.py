"""Binomial counts: how many of (input & other) * total_count independent trials succeed, each with probability p.

`input` and `other` are int32 or boolean, of the same shape, and none is negative; their bitwise and is how many batches
of `total_count` trials an element gets. `total_count` (float32 with integral values) and `probs` or `logits` (float32)
broadcast to that shape. p is `probs`, or 1 / (1 + exp(-logits)); both or neither of them is a ValueError. The result is
float32 of that shape. Nothing is mutated.

Random numbers need not be PyTorch's, but they must differ after torch.manual_seed with another seed. Upstream asks for
PyTorch's own stream, and computes the bitwise and without using it: where it is 1, as in its tests or not at all, the
two agree.
"""

import torch

from pytest_kernelbenchx import Binomial, Shapes, fills, task


def trials_and_probability(input, other, total_count, probs, logits):
    return (input & other) * total_count, torch.sigmoid(logits) if probs is None else probs


def bits(rng, shape, dtype):
    words = torch.randint(0, 4, shape, generator=rng)
    return words > 0 if dtype is torch.bool else words


def counts(rng, shape, kind):
    """Up to 5, outliers 10: many trials take long in the interpreter."""
    few = torch.randint(0, 6, shape, generator=rng)
    return torch.where(fills.with_outliers(torch.ones(shape), rng) != 1, 10, few) if kind == "outlier" else few


LITERAL = dict(input=[1, 0, 1, 3], other=[1, 1, 0, 2], S=[4])
DRAWN = [dict(S=[4099], **{given: True}) for given in ("probs", "logits")]


@task(
    inputs={
        "input": "T[*S]",
        "other": "T[*S]",
        "total_count": "f32[*S~]",
        "probs": "f32[*S~] | None",
        "logits": "f32[*S~] | None",
    },
    output="f32[*S]",
    dtypes=("i32", "bool"),
    axes={"S": Shapes(1, 3, min_side=0)},
    fill={"input": bits, "other": bits, "total_count": counts, "probs": fills.uniform()},
    where=lambda present: len(present) == 1,
    random=Binomial(trials_and_probability),
    examples=[
        *[dict(LITERAL, total_count=[n] * 4, probs=[0.5, 0.1, 0.9, 1.0]) for n in (5.0, 10.0)],
        *[dict(LITERAL, total_count=[n] * 4, logits=[0.0, -2.0, 2.0, -1.0]) for n in (5.0, 10.0)],
        *[dict(case, fill=fill) for case in DRAWN for fill in ("standard", "outlier")],
        dict(input=[7] * 2000, other=[3] * 2000, total_count=[2.0], probs=[0.5]),
        dict(S=[40009], dtype="bool", total_count="ones", probs=[0.25]),  # normal numbers, rounded, are not good enough
        dict(LITERAL, total_count=[1.0] * 4, raises=ValueError),
        dict(LITERAL, total_count=[1.0] * 4, probs=[0.5] * 4, logits=[0.0] * 4, raises=ValueError),
    ],
    sizes={label: dict(S=[n], probs=True) for label, n in {"4k": 4096, "1m": 1 << 20, "16m": 1 << 24}.items()},
)
def bitwise_and_binomial(input, other, total_count, probs=None, logits=None):
    return torch.distributions.Binomial((input & other) * total_count, probs, logits).sample()
