"""The task mul in bfloat16: input * other, element by element, rounded once.

The two broadcast against each other; `other` may be a Python number, which itself is not rounded to bfloat16. With
`out` the result is written there, whatever its strides, and it is returned.
"""

import torch

from pytest_kernelbenchx import Shapes, task


@task(
    extra=True,
    inputs={"input": "bf16[*S~]", "other": "bf16[*S~] | number"},
    output="bf16[...]",
    dtypes=("bf16",),
    axes={"S": Shapes(0, 4, min_side=0)},
    examples=[
        *[dict(S=[64, 64], fill=fill) for fill in ("standard", "outlier")],
        dict(input=[3e38, 1e20, -1e-20], other=[0.5, 1e10, 1e-10], S=[3]),
    ],
    sizes={"4k": dict(S=[4096]), "1m": dict(S=[1 << 20]), "128m": dict(S=[1 << 27])},
)
def mul_bf16(input, other, out=None):
    return torch.mul(input, other, out=out)
