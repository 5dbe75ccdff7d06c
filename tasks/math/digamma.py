"""Digamma function of every element: the derivative of log(gamma(x)).

Negative numbers are in the domain, too: digamma(x) = digamma(1 - x) - pi / tan(pi * x). Negative integers give NaN, 0.0
gives -inf, -0.0 inf. Large arguments come close to log(x).
"""

import torch

from pytest_kernelbenchx import fills, task


def off_poles(rng, shape, kind):
    values = fills.normal(1.5, 2.0)(rng, shape, kind).to(torch.float32)
    return torch.where((values <= 0) & (values == values.round()), 0.5, values)


@task(
    inputs={"input_tensor": "T[*S]"},
    output="T[*S]",
    dtypes=("f32", "f16", "bf16"),
    fill={"input_tensor": off_poles},
    examples=[
        dict(input_tensor=[1.0, 0.5, 2.0, 1.5, 3.0]),
        dict(input_tensor=[0.0, -0.0, -1.0, -7.0, -0.5, -1.25, -9.75]),
        dict(input_tensor=[1e-3, 0.01, -0.01, 1.4616321, 9.99, 10.0, 10.01, 1e3, 1e6, 1e10]),
        dict(S=[64, 64], fill="both"),
        dict(S=[0]),
    ],
    sizes={"4k": dict(S=[4096]), "1m": dict(S=[1 << 20]), "128m": dict(S=[1 << 27])},
)
def digamma(input_tensor):
    return torch.special.digamma(input_tensor)
