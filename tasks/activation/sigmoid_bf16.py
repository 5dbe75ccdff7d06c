"""The task sigmoid in bfloat16: 1 / (1 + exp(-x)) for every element, computed in float32 and rounded once.

`input` has any shape; the result has the same shape and type. Large arguments give 0 and 1, never NaN. With `out` the
result is written there, whatever its strides, and it is returned.
"""

import torch

from pytest_kernelbenchx import Shapes, task


@task(
    extra=True,
    inputs={"input": "bf16[*S]"},
    output="bf16[*S]",
    dtypes=("bf16",),
    axes={"S": Shapes(0, 4, min_side=0)},
    examples=[dict(S=[128, 129], fill=fill) for fill in ("standard", "outlier")],
    sizes={"4k": dict(S=[4096]), "1m": dict(S=[1 << 20]), "128m": dict(S=[1 << 27])},
)
def sigmoid_bf16(input, out=None):
    return torch.sigmoid(input, out=out)
