"""Binary cross-entropy of probabilities: -weight * (target * log(input) + (1 - target) * log(1 - input)), reduced.

`input` and `target` have the same shape and lie in [0, 1], ends included; `weight`, if given, broadcasts to it. Both
logarithms are clamped to at least -100: 0 and 1 give finite losses. `reduction="none"` returns them in that shape,
"sum" adds them up, and "mean" divides that sum by the number of elements, whatever the weights; over none it is NaN.
Any other `reduction` raises ValueError.
"""

import torch

from pytest_kernelbenchx import fills, task

LABELS = [0.0, 1.0, 1.0, 0.0, 0.0, 1.0, 0.0, 1.0]


@task(
    inputs={"input": "T[*S]", "target": "T[*S]", "weight": "T[*S~] | None"},
    output="T[...]",
    dtypes=("f32", "f16", "bf16"),
    fill={"input": fills.squashed, "target": fills.uniform(), "weight": fills.uniform(0.0, 2.0)},
    examples=[
        *[dict(S=[8], target=LABELS, weight=weight) for weight in (False, True)],
        dict(input=[0.0, 1.0, 0.0, 1.0, 0.0, 1e-30], target=[0.0, 1.0, 1.0, 0.0, 0.5, 1.0], reduction="none"),
        *[dict(S=[64, 129], weight=weight, fill="both") for weight in (False, True)],
        dict(S=[1025], reduction="none", fill="both"),
        dict(S=[50001], reduction="sum"),
        dict(S=[0]),
        dict(S=[3], reduction="median", raises=ValueError),
    ],
    sizes={
        "4k": dict(S=[4096]),
        "64m": dict(S=[1 << 26]),
        "weighted_64m": dict(S=[1 << 26], weight=True, reduction="none", dtype="bf16"),
    },
)
def binary_cross_entropy(input, target, weight=None, reduction="mean"):
    return torch.nn.functional.binary_cross_entropy(input, target, weight, reduction=reduction)
