"""input / other, which broadcast against each other, rounded to an integer if asked for.

`other` may be a Python number. `rounding_mode` is None, "trunc" (the quotient without its fraction) or "floor" (the
largest integer that is not larger): 6 / -3 gives -2 in both, 7 / -3 gives -2 and -3. A division by zero gives an
infinity of the quotient's sign, 0 / 0 NaN.
"""

import torch

from pytest_kernelbenchx import fills, task


def dividend(rng, shape, kind, rounding_mode):
    """Normal values; half of them integers where the quotient is rounded."""
    values = fills.normal(std=10.0 if rounding_mode else 1.0)(rng, shape, kind)
    whole = torch.rand(shape, generator=rng) < 0.5
    return torch.where(whole, values.round(), values) if rounding_mode else values


def divisor(rng, shape, kind, rounding_mode):
    """Normal values; powers of two where the quotient is rounded, so that it is exact before, whoever divides."""
    values = fills.normal()(rng, shape, kind)
    return torch.copysign(torch.exp2(torch.log2(values.abs()).round()), values) if rounding_mode else values


CORNERS = dict(input=[7.0, -0.5, -8.0, 1e30, 1.0], other=[[2.0], [-4.0], [0.0]], S=[3, 5])


@task(
    inputs={"input": "T[*S~]", "other": "T[*S~] | number"},
    output="T[...]",
    dtypes=("f32", "f16", "bf16"),
    options={"rounding_mode": [None, "trunc", "floor"]},
    fill={"input": dividend, "other": divisor},
    examples=[
        dict(input=[6.0, 9.0], other=3.0),
        dict(input=[[6.0, 9.0], [12.0, 15.0]], other=[3.0, 3.0], S=[2, 2], out=True),
        dict(input=[1.0, -1.0, 0.0, 1e30, 1e-30], other=[0.0, 0.0, 0.0, 1e-5, 1e5]),
        *[dict(CORNERS, rounding_mode=mode) for mode in ("trunc", "floor")],
        dict(S=[64, 64], fill="both"),
        dict(S=[]),
        dict(S=[0]),
    ],
    sizes={"4k": dict(S=[4096]), "1m": dict(S=[1 << 20]), "128m": dict(S=[1 << 27])},
)
def div(input, other, rounding_mode=None, out=None):
    return torch.div(input, other, rounding_mode=rounding_mode, out=out)
