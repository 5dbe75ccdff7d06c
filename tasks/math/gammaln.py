"""log(|Gamma(x)|) of every element.

0 and negative integers are poles and give inf; between them the function is defined: gammaln(-2.5) is -0.0562. It is 0
at 1 and at 2.
"""

import torch

from pytest_kernelbenchx import fills, task


@task(
    inputs={"input": "T[*S]"},
    output="T[*S]",
    dtypes=("f32", "f16", "bf16"),
    fill={"input": fills.one_of(fills.normal(std=2.0), fills.normal(std=30.0), fills.positive(0.001))},
    examples=[
        dict(input=[-2.5, -3.5, -4.5], out=True),
        dict(input=[float(n) for n in range(1, 1001)]),
        dict(input=[0.5, 0.9, 1.0, 1.1, 1.5, 1.9, 2.0, 2.1, 3.0, 3.5, 4.0]),
        dict(input=[0.0, -1.0, -7.0, 1e-20, -1e-20, 1e30, float("inf"), -float("inf"), float("nan")]),
        dict(S=[64, 64], fill="both"),
        dict(S=[0]),
    ],
    sizes={"4k": dict(S=[4096]), "1m": dict(S=[1 << 20]), "128m": dict(S=[1 << 27])},
)
def gammaln(input, out=None):
    return torch.special.gammaln(input, out=out)
