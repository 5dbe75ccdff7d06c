"""log(1 + x) of every element, accurate where x is small: log1p(1e-10) is 1e-10. -1 gives -inf, what lies below NaN."""

import torch

from pytest_kernelbenchx import fills, task


@task(
    inputs={"input": "T[*S]"},
    output="T[*S]",
    dtypes=("f32", "f16", "bf16"),
    fill={"input": fills.one_of(fills.normal(std=0.2), fills.normal(std=1e-3), fills.positive(-0.99))},
    examples=[
        dict(input=[0.0, 0.1, 0.2, -0.1, -0.2, 0.5, 1.0, 2.0, 5.0], out=True),
        dict(input=[1e-10, -2e-10, 3e-9]),
        dict(input=[-1.0, -1.5, -0.9999999, 1e30, float("inf"), float("nan")]),
        dict(S=[64, 64], fill="both"),
        dict(S=[0]),
    ],
    sizes={"4k": dict(S=[4096]), "1m": dict(S=[1 << 20]), "128m": dict(S=[1 << 27])},
)
def log1p(input, out=None):
    return torch.log1p(input, out=out)
