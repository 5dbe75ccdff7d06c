"""Two things of the same logits: their cross-entropy with class indices, and their softmax, layer-normalised.

    loss of row n = -weight[t] * log_softmax(logits[n])[t],        t = targets[n]
    s = softmax(logits[n]), normalised[n] = (s - mean of s) / sqrt(variance of s + eps)

Returned is the pair (loss, normalised). `logits` is [N, C]; `targets` (int64, [N]) holds 0 to C - 1 or `ignore_index`;
`weight`, of the losses alone, is [C], and 1 where it is not given. A row to be ignored loses 0. With `label_smoothing`
a the loss is (1 - a) times the above, plus a / C times the sum over all classes c of -weight[c] *
log_softmax(logits[n])[c]. `reduction` "none" returns the N losses, "sum" adds them up, "mean" divides that sum by the
sum of weight[t] over the rows that are not ignored (NaN if there are none). The variance is divided by C, and
`normalized_shape` is C; another one raises RuntimeError. `out`, if given, receives `normalised` and takes its place.
"""

import torch
from torch.nn import functional

from pytest_kernelbenchx import fills, task


def size(n, **more):
    return dict(N=n, C=1024, normalized_shape=1024, **more)


LITERAL = dict(logits=[[1.0, 2.0, 3.0], [1.0, 2.0, 3.0]], targets=[2, 1], normalized_shape=3)


@task(
    inputs={"logits": "T[N, C]", "targets": "i64[N]", "weight": "T[C] | None", "out": "T[N, C] | None"},
    output=("T[...]", "T[N, C]"),
    dtypes=("f32", "f16", "bf16"),
    axes={"C": [2, 3, 5, 10, 17, 32, 33, 64, 97, 128, 129, 257, 1000]},
    # where all logits are nearly equal, the norm of their softmax is made of rounding errors
    fill={"logits": fills.normal(), "targets": fills.classes, "weight": fills.uniform(0.1, 2.0)},
    options={
        "normalized_shape": lambda C: [C],
        "ignore_index": [-100, -1, 0],
        "label_smoothing": [0.0, 0.1, 0.5, 1.0],
        "eps": [1e-5, 1e-3, 1e-8],
    },
    mutates=("out",),
    examples=[
        dict(LITERAL, weight=[0.1, 0.2, 0.3]),
        dict(N=32, C=128, normalized_shape=128, label_smoothing=0.1, out=True, fill="both"),
        dict(LITERAL, targets=[-100, -100]),
        dict(N=3, C=5003, normalized_shape=5003, weight=True, reduction="none"),
        *[dict(N=3, C=C, normalized_shape=C, logits="low", label_smoothing=0.1) for C in (10, 17001)],
        dict(LITERAL, normalized_shape=2, raises=RuntimeError),
    ],
    sizes={"256": size(256), "128k": size(1 << 17), "128k_f16": size(1 << 17, dtype="f16")},
)
def fused_cross_entropy_softmax_layernorm(
    logits, targets, normalized_shape, weight=None,
    ignore_index=-100, reduction="mean", label_smoothing=0.0, eps=1e-5, *, out=None,
):  # fmt: skip
    how = dict(ignore_index=ignore_index, reduction=reduction, label_smoothing=label_smoothing)
    loss = functional.cross_entropy(logits, targets, weight, **how)
    normalised = functional.layer_norm(torch.softmax(logits, -1), [normalized_shape], eps=eps)
    return loss, normalised if out is None else out.copy_(normalised)
