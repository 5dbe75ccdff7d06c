"""sqrt(exp(x)) of every element, which is exp(x / 2).

Either formula is right: where exp(x) overflows the type and exp(x / 2) does not, or underflows, the result is not
looked at.
"""

import torch

from pytest_kernelbenchx import fills, task


def moderate(rng, shape, dtype, kind):
    """Normal values up to where exp(x) is a normal number."""
    low, high = (-9, 11) if dtype is torch.float16 else (-80, 80)
    return fills.normal(std=3.0, low=low, high=high)(rng, shape, kind)


@task(
    inputs={"input": "T[*S]"},
    output="T[*S]",
    dtypes=("f32", "f16", "bf16"),
    fill={"input": moderate},
    examples=[
        dict(input=[1.0, 2.0, 3.0, -1.0, -2.0, -3.0, 0.0], out=True),
        dict(input=[-80.0, -70.0, -75.5]),
        dict(input=[200.0, -300.0, float("inf"), -float("inf"), float("nan")]),
        dict(S=[64, 64], fill="both"),
        dict(S=[0]),
    ],
    sizes={"4k": dict(S=[4096]), "1m": dict(S=[1 << 20]), "128m": dict(S=[1 << 27])},
)
def exp_sqrt(input, out=None):
    return torch.sqrt(torch.exp(input), out=out)
