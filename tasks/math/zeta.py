"""Hurwitz zeta function: the sum over k >= 0 of (other + k) ** -input.

`input` is the exponent, `other` the first base; both are float32 and broadcast against each other. Exponents below 1
give NaN, an exponent of 1 inf. A first base of 0 or a negative integer gives inf. Any other negative one gives NaN,
unless the exponent is an integer: then it is the sum as above.
"""

import torch

from pytest_kernelbenchx import fills, task


@task(
    inputs={"input": "f32[*S~]", "other": "f32[*S~]"},
    output="f32[...]",
    fill={"input": fills.positive(1.01), "other": fills.positive(0.05)},
    examples=[
        dict(input=[2.0, 3.0, 2.5, 3.5, -2.0], other=[1.0, 2.0, 1.5, 2.5, 1.0]),
        dict(input=[10.0, 20.0], other=[5.0, 10.0], out=True),
        dict(input=[1.0, 0.5, 1.0001, 1.5, 60.0, float("nan")], other=[[0.01], [1.0], [1e5]], S=[3, 6]),
        dict(input=[2.0, 3.0, 4.0, 7.0, 2.5], other=[[-0.5], [-1.25], [-20.75], [-2.0], [0.0]], S=[5, 5]),
        dict(input=[20.0, 25.0, 30.0], other=[9.5, 12.0, 30.0]),
        dict(S=[64, 64], fill="both"),
        dict(S=[0]),
    ],
    sizes={"4k": dict(S=[4096]), "1m": dict(S=[1 << 20]), "128m": dict(S=[1 << 27])},
)
def zeta(input, other, out=None):
    return torch.special.zeta(input, other, out=out)
