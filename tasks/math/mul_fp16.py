"""The task mul in float16, rounded once. A Python number as `other` is not itself rounded to float16."""

import torch

from pytest_kernelbenchx import task


@task(
    extra=True,
    inputs={"input": "f16[*S~]", "other": "f16[*S~] | number"},
    output="f16[...]",
    dtypes=("f16",),
    examples=[dict(S=[64, 64], fill="both"), dict(input=[300.0, 1e-3, -0.01], other=[300.0, 1e-3, 5e-4], S=[3])],
    sizes={"4k": dict(S=[4096]), "1m": dict(S=[1 << 20]), "128m": dict(S=[1 << 27])},
)
def mul_fp16(input, other, out=None):
    return torch.mul(input, other, out=out)
