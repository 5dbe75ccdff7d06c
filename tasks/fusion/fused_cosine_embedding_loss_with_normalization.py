"""Cosine embedding loss of rows that are first brought to length 1.

    u = input1 / max(|input1|, 1e-12), v = input2 / max(|input2|, 1e-12), |x| being the Euclidean norm of a row
    c = the cosine of the angle between u and v, 0 where one of them is zero
    loss = 1 - c where target is 1, max(0, c - margin) where it is -1

`input1` and `input2` are [N, D] of one floating-point type, `target` is [N] (int64) and holds 1 or -1, `margin` is a
number. "none" returns the N losses, "sum" adds them up and "mean" averages them; the result has the type of the inputs.
Types of 16 bits are best computed in float32. Nothing is mutated.

Upstream has a hinge of its own: 1 + c where target is -1, and where margin is positive at least margin - c.
"""

import torch
from torch.nn import functional

from pytest_kernelbenchx import fills, task


def correlated(rng, shape, dtype, kind, input1):
    """Rows at every angle to those of `input1`: the cosines of unrelated long rows are all close to 0."""
    share = 4 * torch.rand(shape[0], 1, generator=rng) - 2
    return share * input1.float() + fills.default(rng, shape, dtype, kind).float()


def signs(rng, shape):
    return 2 * torch.randint(2, shape, generator=rng) - 1


ROWS = dict(N=3, D=5, target=[1, -1, 1])


@task(
    inputs={"input1": "T[N, D]", "input2": "T[N, D]", "target": "i64[N]"},
    output="T[...]",
    dtypes=("f32", "f16", "bf16"),
    fill={"input2": correlated, "target": signs},
    options={"margin": [0, 0.5, 0.25, -0.5, -1.0], "reduction": ["mean", "sum", "none"]},
    examples=[
        ROWS,
        dict(ROWS, margin=0.5),
        dict(ROWS, reduction="sum"),
        dict(ROWS, reduction="none"),
        *[
            dict(N=128, D=256, margin=0.5, reduction=reduction, fill=fill)
            for reduction in ("mean", "none")
            for fill in ("standard", "outlier")
        ],
        dict(
            input1=[[1.0, 2.0], [1e-3, 0.0], [0.0, 0.0], [3.0, 4.0], [3.0, 4.0]],
            input2=[[2.0, 4.0], [5.0, 1.0], [1.0, 2.0], [-4.0, 3.0], [-3.0, -4.0]],
            **dict(target=[-1, 1, -1, 1, 1], margin=-0.5, reduction="none"),
        ),
        dict(N=1025, D=3),
        dict(N=2, D=5000, reduction="none"),
        dict(N=2, D=3, reduction="average", raises=ValueError),
    ],
    sizes={
        "4k": dict(N=4096, D=256),
        "64k": dict(N=65536, D=256),
        "768k": dict(N=3 << 18, D=256),
        "1m_f16": dict(N=1 << 20, D=256, dtype="f16"),
    },
)
def fused_cosine_embedding_loss_with_normalization(input1, input2, target, margin=0, reduction="mean"):
    u, v = functional.normalize(input1), functional.normalize(input2)
    return functional.cosine_embedding_loss(u, v, target, margin, reduction=reduction)
