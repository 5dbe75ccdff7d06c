"""Cross-entropy between logits and class indices.

`input` holds logits, [N, C] or [N, C, ...]; `target` holds class indices (int64) in the same shape without C, each in
0 .. C - 1 or equal to `ignore_index`. The loss of an entry is -weight[t] * log_softmax(input)[t] along dimension 1,
`weight` [C] being 1 where it is not given; an ignored entry loses 0. `reduction="none"` returns the losses, "sum" adds
them up, "mean" divides that sum by the sum of weight[t] over the entries that are not ignored (NaN if there are none).
"""

import torch

from pytest_kernelbenchx import Shapes, fills, task


@task(
    inputs={"input": "T[N, C, *S]", "target": "i64[N, *S]", "weight": "T[C] | None"},
    output="T[...]",
    dtypes=("f32", "f16", "bf16"),
    axes={"S": Shapes(0, 2, longest=33), "C": [2, 3, 5, 10, 17, 32, 33, 64, 97, 128, 129, 257, 1000]},
    fill={"target": fills.classes, "weight": fills.uniform(0.1, 2.0)},
    options={"ignore_index": [-100, -1, 0]},
    examples=[
        *[dict(N=4, C=3, S=[], target=target) for target in ([0, 1, 2, 1], [0, -100, 2, 1])],
        *[dict(N=8, C=10, S=S, fill="both") for S in ([], [8, 8])],
        dict(N=2, C=3, S=[], target=[-100, -100]),
        dict(N=3, C=5003, S=[], weight=True),
        *[dict(N=3, C=C, S=[], input="low") for C in (10, 17001)],
    ],
    sizes={
        "32k": dict(N=32768, C=1000, S=[]),
        "vocabulary": dict(N=4096, C=131072, S=[], dtype="bf16"),
        "pixels": dict(N=8, C=32, S=[512, 512]),
    },
)
def cross_entropy(input, target, weight=None, ignore_index=-100, reduction="mean"):
    return torch.nn.functional.cross_entropy(input, target, weight, ignore_index=ignore_index, reduction=reduction)
