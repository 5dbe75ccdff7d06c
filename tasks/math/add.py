"""input + alpha * other, which broadcast against each other; `other` may be a Python number, and `alpha` is one."""

import torch

from pytest_kernelbenchx import task


@task(
    inputs={"input": "T[*S~]", "other": "T[*S~] | number"},
    output="T[...]",
    dtypes=("f32", "f16", "bf16"),
    options={"alpha": [1, 0.5, 2, -1.25, 0]},
    examples=[
        dict(input=[1.0, 2.0, 3.0], other=[4.0, 5.0, 6.0], alpha=0.5, out=True),
        *[dict(input=[1.0, 2.0, 3.0], other=2.0, alpha=alpha) for alpha in (1, 0.5)],
        dict(input=[[1.0], [2.0]], other=[[[1.0, 2.0, 3.0]], [[4.0, 5.0, 6.0]]], S=[2, 2, 3], alpha=-1),
        dict(S=[256, 256], fill="both"),
        dict(S=[0]),
    ],
    sizes={"4k": dict(S=[4096]), "1m": dict(S=[1 << 20]), "128m": dict(S=[1 << 27])},
)
def add(input, other, alpha=1, out=None):
    return torch.add(input, other, alpha=alpha, out=out)
