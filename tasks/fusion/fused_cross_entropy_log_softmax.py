"""Log-softmax along `dim`, then cross-entropy between its result and class indices.

    x = log_softmax(input, dim)
    y = log_softmax(x, 1)
    t = target[n]
    loss[n] = -(1 - label_smoothing) * w[t] * y[n, t] - label_smoothing / C * sum over c of w[c] * y[n, c]

`input` is [N, C, ...]; `target` holds class indices (int64) in the same shape without C, each in 0 .. C - 1 or equal to
`ignore_index`. w is `weight`, [C], or 1 where it is not given. The loss of an ignored entry is 0. `reduction="none"`
returns the losses, "sum" adds them up, "mean" divides that sum by the sum of w[t] over the entries that are not ignored
(NaN if there are none). For `dim=1`, x and y are the same; for other dimensions they are not.
"""

from torch.nn import functional

from pytest_kernelbenchx import Shapes, fills, task

LITERAL = dict(N=2, C=3, S=[], input=[[-200.0, 100.0, 0.0], [1.0, 2.0, -300.0]], target=[2, 1])


@task(
    inputs={"input": "T[N, C, *S]", "target": "i64[N, *S]", "weight": "T[C] | None"},
    output="T[...]",
    dtypes=("f32", "f16", "bf16"),
    axes={"S": Shapes(0, 2, longest=33), "C": [2, 3, 5, 10, 17, 32, 33, 64, 97, 128, 129, 257, 1000]},
    fill={"target": fills.classes, "weight": fills.uniform(0.1, 2.0)},
    options={
        "dim": lambda S: [1, *range(-len(S) - 2, len(S) + 2)],
        "ignore_index": [-100, -1, 0],
        "label_smoothing": [0.0, 0.1, 0.5, 1.0],
    },
    examples=[
        dict(LITERAL, weight=[1.0, 0.5, 2.0], label_smoothing=0.25, ignore_index=1),
        dict(N=64, C=100, S=[], label_smoothing=0.1, fill="both"),
        dict(N=2, C=10, S=[33, 17], weight=True, label_smoothing=0.1, dim=-1, reduction="none"),
        dict(N=1030, C=5, S=[], dim=0, weight=True),
        dict(N=3, C=5003, S=[], weight=True, reduction="none"),
        *[dict(N=3, C=C, S=[], input="low") for C in (10, 17001)],
        dict(LITERAL, target=[-100, -100]),
    ],
    sizes={
        **{label: dict(N=n, C=128, S=[]) for label, n in (("4k", 4096), ("2m", 1 << 21))},
        "vocabulary": dict(N=4096, C=131072, S=[], dtype="bf16"),
    },
)
def fused_cross_entropy_log_softmax(
    input, target, dim=1, weight=None, ignore_index=-100, reduction="mean", label_smoothing=0.0
):
    x = functional.log_softmax(input, dim)
    how = dict(ignore_index=ignore_index, reduction=reduction, label_smoothing=label_smoothing)
    return functional.cross_entropy(x, target, weight, **how)
