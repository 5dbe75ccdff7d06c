"""Cosine embedding loss of rows that are first brought to length 1.

    u = input1 / max(|input1|, 1e-12), v = input2 / max(|input2|, 1e-12), |x| being the Euclidean norm of a row
    c = the cosine of the angle between u and v, 0 where one of them is zero
    loss = 1 - c where target is 1, max(0, c - margin) where it is -1

`target` (int64) holds 1 or -1, `margin` is a number. "none" returns the N losses, "sum" adds them up, "mean" averages
them. Upstream has a hinge of its own: 1 + c where target is -1, and where margin is positive at least margin - c.
"""

import torch
from torch.nn import functional

from pytest_kernelbenchx import fills, task


def correlated(rng, shape, dtype, kind, input1):
    """Rows at every angle to those of `input1`: the cosines of unrelated long rows are all close to 0."""
    share = 4 * torch.rand(shape[0], 1, generator=rng) - 2
    return share * input1.float() + fills.default(rng, shape, dtype, kind).float()


@task(
    inputs={"input1": "T[N, D]", "input2": "T[N, D]", "target": "i64[N]"},
    output="T[...]",
    dtypes=("f32", "f16", "bf16"),
    fill={"input2": correlated, "target": lambda rng, shape: 2 * torch.randint(2, shape, generator=rng) - 1},
    options={"margin": [0, 0.5, 0.25, -0.5, -1.0]},
    examples=[
        *[dict(N=128, D=256, margin=0.5, reduction=how, fill="both") for how in ("mean", "none")],
        dict(
            input1=[[1.0, 2.0], [1e-3, 0.0], [0.0, 0.0], [3.0, 4.0], [3.0, 4.0]],
            input2=[[2.0, 4.0], [5.0, 1.0], [1.0, 2.0], [-4.0, 3.0], [-3.0, -4.0]],
            **dict(target=[-1, 1, -1, 1, 1], margin=-0.5, reduction="none"),
        ),
        *[dict(N=1025, D=3, reduction=how) for how in ("mean", "none")],
        dict(N=2, D=5000, reduction="none"),
        dict(N=2, D=3, reduction="average", raises=ValueError),
    ],
    sizes={"4k": dict(N=4096, D=256), "768k": dict(N=3 << 18, D=256), "f16": dict(N=1 << 20, D=256, dtype="f16")},
)
def fused_cosine_embedding_loss_with_normalization(input1, input2, target, margin=0, reduction="mean"):
    u, v = functional.normalize(input1), functional.normalize(input2)
    return functional.cosine_embedding_loss(u, v, target, margin, reduction=reduction)
