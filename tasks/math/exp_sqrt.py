"""sqrt(exp(x)) for every element, which is exp(x / 2).

`input` has any shape and a floating-point type; the result has the same shape and type. Either formula is right: where
exp(x) overflows the type and exp(x / 2) does not, or underflows, the result is not looked at. With `out` the result is
written there, whatever its strides, and it is returned.
"""

import torch

from pytest_kernelbenchx import Shapes, fills, task


def moderate(rng, shape, dtype, kind):
    """Normal values up to where exp(x) is a normal number."""
    values = fills.normal(std=3.0)(rng, shape, kind)
    return values.clamp(-9, 11) if dtype is torch.float16 else values.clamp(-80, 80)


@task(
    inputs={"input": "T[*S]"},
    output="T[*S]",
    dtypes=("f32", "f16", "bf16"),
    axes={"S": Shapes(0, 4, min_side=0)},
    fill={"input": moderate},
    examples=[
        dict(input=[1.0, 2.0, 3.0]),
        dict(input=[-1.0, -2.0, -3.0]),
        dict(input=[0.0, 0.0, 0.0]),
        dict(input=[1.0, 2.0, 3.0], out=True),
        dict(input=[-80.0, -70.0, -75.5]),
        dict(input=[200.0, -300.0, float("inf"), -float("inf"), float("nan")]),
        *[dict(S=[64, 64], fill=fill) for fill in ("standard", "outlier")],
        dict(S=[0]),
    ],
    sizes={"4k": dict(S=[4096]), "1m": dict(S=[1 << 20]), "128m": dict(S=[1 << 27])},
)
def exp_sqrt(input, out=None):
    return torch.sqrt(torch.exp(input), out=out)
