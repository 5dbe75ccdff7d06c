"""Standard deviation of the n elements of one or several dimensions.

    output = sqrt(sum((x - mean) ** 2) / max(0, n - correction))

`input` has one or more dimensions; `dim` is one of them, a list or tuple of them, or None for all. They disappear, or
stay with length 1 under `keepdim=True`. `correction` is a number; a divisor of 0 gives NaN where all elements are
equal, and infinity elsewhere. The mean may be much larger than the deviation: squares are to be taken after it was
subtracted.
"""

import torch

from pytest_kernelbenchx import Shapes, fills, some_dims_or_none, task


@task(
    inputs={"input": "T[*S]"},
    output="T[...]",
    dtypes=("f32", "f16", "bf16"),
    axes={"S": Shapes(1, 4)},
    fill={"input": fills.normal(mean=2.0)},
    options={"dim": some_dims_or_none, "correction": [1, 0, 2, 0.5]},
    examples=[
        *[dict(input=[1.0, 2.0, 3.0, 4.0, 5.0], correction=correction, out=True) for correction in (1, 0)],
        *[dict(input=[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], dim=dim, keepdim=dim == 1) for dim in (0, 1)],
        dict(input=[[10000.0, 10001.0, 10002.0, 10004.0], [-500.0] * 4], dim=1),
        *[dict(S=[64, 129], dim=dim, fill="both") for dim in (None, 0, 1)],
        dict(S=[8, 16, 32], dim=(0, 2), correction=0, keepdim=True),
        dict(S=[70001]),
        dict(S=[1]),
    ],
    sizes={"4k": dict(S=[4096]), "128m": dict(S=[1 << 27]), "rows": dict(S=[16384, 4096], dim=1, dtype="bf16")},
)
def std(input, dim=None, correction=1, keepdim=False, out=None):
    return torch.std(input, dim, correction=correction, keepdim=keepdim, out=out)
