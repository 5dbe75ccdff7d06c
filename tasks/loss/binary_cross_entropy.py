"""Binary cross-entropy of probabilities: -weight * (target * log(input) + (1 - target) * log(1 - input)), reduced.

`input` and `target` have the same shape and floating-point type and lie in [0, 1], ends included; `weight`, if given,
has that type and broadcasts to that shape. Both logarithms are clamped to at least -100: 0 and 1 give finite losses.
The result has the same shape and type under `reduction="none"`; "mean" and "sum" give a scalar tensor of that type,
16-bit types being summed in float32. The mean divides by the number of elements, whatever the weights; over none it is
NaN. Any other `reduction` raises ValueError.
"""

import torch

from pytest_kernelbenchx import Shapes, fills, task


def squashed(rng, shape, kind):
    """Sigmoids of normal values; 50-fold outliers come close to 0 and 1, or reach them."""
    return torch.sigmoid(fills.normal()(rng, shape, kind))


@task(
    inputs={"input": "T[*S]", "target": "T[*S]", "weight": "T[*S~] | None"},
    output="T[...]",
    dtypes=("f32", "f16", "bf16"),
    axes={"S": Shapes(0, 4, min_side=0)},
    fill={"input": squashed, "target": fills.uniform(), "weight": fills.uniform(0.0, 2.0)},
    options={"reduction": ["mean", "sum", "none"]},
    examples=[
        dict(S=[8], target=[0.0, 1.0, 1.0, 0.0, 0.0, 1.0, 0.0, 1.0]),
        dict(S=[8], target=[0.0, 1.0, 1.0, 0.0, 0.0, 1.0, 0.0, 1.0], weight=True),
        dict(input=[0.0, 1.0, 0.0, 1.0, 0.0, 1e-30], target=[0.0, 1.0, 1.0, 0.0, 0.5, 1.0], S=[6], reduction="none"),
        *[dict(S=[64, 129], weight=w, fill=fill) for w in (False, True) for fill in ("standard", "outlier")],
        *[dict(S=[1025], reduction="none", fill=fill) for fill in ("standard", "outlier")],
        dict(S=[50001], reduction="sum"),
        dict(S=[0]),
        dict(S=[3], reduction="median", raises=ValueError),
    ],
    sizes={
        "4k": dict(S=[4096]),
        "1m": dict(S=[1 << 20]),
        "64m": dict(S=[1 << 26]),
        "weighted_64m": dict(S=[1 << 26], weight=True, reduction="none", dtype="bf16"),
    },
)
def binary_cross_entropy(input, target, weight=None, reduction="mean"):
    return torch.nn.functional.binary_cross_entropy(input, target, weight, reduction=reduction)
