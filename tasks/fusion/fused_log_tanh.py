"""Natural logarithm, then hyperbolic tangent, of every element: tanh(log(input)).

An element that is zero or negative, wherever it stands, raises ValueError (whatever its text). Infinity gives 1, NaN
gives NaN.
"""

import torch

from pytest_kernelbenchx import fills, task


def spread(rng, shape):
    """From 1e-4 to 6e4, as many in every decade: the square of the greatest is beyond 16 bits."""
    return 10 ** (8.8 * torch.rand(shape, generator=rng) - 4)


@task(
    inputs={"input": "T[*S]"},
    output="T[*S]",
    dtypes=("f32", "f16", "bf16"),
    fill={"input": fills.one_of(fills.positive(), spread)},
    examples=[
        dict(input=[1.0, 2.0, 3.0]),
        dict(input=[1e-30, 1e-4, 0.1, 1e4, 1e30, float("inf"), float("nan")]),
        dict(S=[4099], fill="both"),
        dict(S=[0]),
        dict(input=[-1.0, 0.0, 2.0], raises=ValueError),
        dict(input=[2.0, -0.0], raises=ValueError),
        dict(input=[0.5] * 1100 + [-1.0], raises=ValueError),
        dict(input=[1.0001, 0.9995, 1.003, 0.99, 1.0], out=True),
    ],
    sizes={"4k": dict(S=[4096]), "1m": dict(S=[1 << 20]), "128m": dict(S=[1 << 27])},
)
def fused_log_tanh(input, out=None):
    if (input <= 0).any():
        raise ValueError("every element must be positive")
    return torch.tanh(torch.log(input), out=out)
