"""Scaled sum, then GELU: gelu(input + alpha * other, approximate).

The tensors broadcast against each other; `other` may be a Python number, `alpha` is one. Upstream ignores `out`.
"""

import torch

from pytest_kernelbenchx import task

POINTS = [-12.0, -3.0, -2.2, -1.5, -0.75, -0.0, 0.75, 2.2, 12.0]


@task(
    inputs={"input": "T[*S~]", "other": "T[*S~] | number"},
    output="T[...]",
    dtypes=("f32", "f16", "bf16"),
    options={"alpha": [1, 0.5, 2, -1.25, 0]},
    examples=[
        dict(input=[1.0, 2.0, 3.0], other=[0.5, 0.5, 0.5], alpha=2),
        *[dict(input=POINTS, other=0.0, approximate=how) for how in ("none", "tanh")],
        *[dict(S=[128, 129], alpha=0.5, approximate=how, fill="both") for how in ("none", "tanh")],
        dict(S=[0]),
        dict(S=[2], approximate="erf", raises=RuntimeError),
    ],
    sizes={"4k": dict(S=[4096]), "1m": dict(S=[1 << 20]), "128m": dict(S=[1 << 27], dtype="f16")},
)
def fused_add_gelu(input, other, alpha=1, approximate="none", out=None):
    return torch.nn.functional.gelu(torch.add(input, other, alpha=alpha), approximate=approximate)
