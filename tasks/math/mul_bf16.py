"""The task mul in bfloat16, rounded once. A Python number as `other` is not itself rounded to bfloat16."""

import torch

from pytest_kernelbenchx import task


@task(
    extra=True,
    inputs={"input": "bf16[*S~]", "other": "bf16[*S~] | number"},
    output="bf16[...]",
    dtypes=("bf16",),
    examples=[dict(S=[64, 64], fill="both"), dict(input=[3e38, 1e20, -1e-20], other=[0.5, 1e10, 1e-10], S=[3])],
    sizes={"4k": dict(S=[4096]), "1m": dict(S=[1 << 20]), "128m": dict(S=[1 << 27])},
)
def mul_bf16(input, other, out=None):
    return torch.mul(input, other, out=out)
