"""The task mul in float16: input * other, element by element, rounded once.

The two broadcast against each other; `other` may be a Python number, which itself is not rounded to float16. With
`out` the result is written there, whatever its strides, and it is returned.
"""

import torch

from pytest_kernelbenchx import Shapes, task


@task(
    extra=True,
    inputs={"input": "f16[*S~]", "other": "f16[*S~] | number"},
    output="f16[...]",
    dtypes=("f16",),
    axes={"S": Shapes(0, 4, min_side=0)},
    examples=[
        *[dict(S=[64, 64], fill=fill) for fill in ("standard", "outlier")],
        dict(input=[300.0, 1e-3, -0.01], other=[300.0, 1e-3, 5e-4], S=[3]),
    ],
    sizes={"4k": dict(S=[4096]), "1m": dict(S=[1 << 20]), "128m": dict(S=[1 << 27])},
)
def mul_fp16(input, other, out=None):
    return torch.mul(input, other, out=out)
