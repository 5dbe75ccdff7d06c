"""Scaled difference, then GELU: gelu(input - alpha * other, approximate).

`input` and `other` broadcast against each other; `other` may be a number, `alpha` is one.

Upstream computes x / 2 * erf(x / sqrt(2)) instead of x / 2 * (1 + erf(x / sqrt(2))) for "none", and ignores `out`.
"""

import torch

from pytest_kernelbenchx import fills, task


@task(
    inputs={"input": "T[*S~]", "other": "T[*S~]"},
    output="T[...]",
    dtypes=("f32", "f16", "bf16"),
    fill={"input": fills.normal(low=-2.0), "other": fills.uniform(-1.5, 1.5)},  # GELU far below 0 is mostly rounding
    options={"alpha": [1, 0.5, 2, -1.25, 0]},
    examples=[
        dict(input=[1.0, 2.0, 3.0], other=[0.5, 1.0, 1.5]),
        *[dict(input=[-0.5, -1.0, -2.0, -30.0, 30.0, 1e-3], other=0.25, approximate=how) for how in ("none", "tanh")],
        *[dict(S=[4096], alpha=0.5, approximate=how, fill="both") for how in ("none", "tanh")],
        dict(S=[0]),
        dict(S=[1], approximate="erf", raises=RuntimeError),
        dict(input=[1.0, -0.5, 0.25], other=[[0.75], [-0.125]], S=[2, 3], alpha=-1.25, out=True),
    ],
    sizes={"4k": dict(S=[4096]), "1m": dict(S=[1 << 20]), "64m": dict(S=[1 << 26])},
)
def fused_sub_gelu(input, other, alpha=1, approximate="none", out=None):
    return torch.nn.functional.gelu(torch.sub(input, other, alpha=alpha), approximate=approximate)
