"""input - alpha * other, which broadcast against each other; `other` may be a Python number, and `alpha` is one."""

import torch

from pytest_kernelbenchx import task


@task(
    inputs={"input": "T[*S~]", "other": "T[*S~] | number"},
    output="T[...]",
    dtypes=("f32", "f16", "bf16"),
    options={"alpha": [1, 2, 0.5, -1.25, 0]},
    examples=[
        dict(input=[4.0, 5.0, 6.0], other=[0.5, 1.0, 1.5], alpha=2, out=True),
        *[dict(input=[7.0, 8.0, 9.0], other=2.0, alpha=alpha) for alpha in (1, 0.5)],
        dict(input=[[1.0], [2.0]], other=[[[1.0, 2.0, 3.0]], [[4.0, 5.0, 6.0]]], S=[2, 2, 3], alpha=-1),
        dict(S=[64, 64], fill="both"),
        dict(S=[0]),
    ],
    sizes={"4k": dict(S=[4096]), "1m": dict(S=[1 << 20]), "128m": dict(S=[1 << 27])},
)
def sub(input, other, *, alpha=1, out=None):
    return torch.sub(input, other, alpha=alpha, out=out)
