"""Whether the sign bit of every element is set: True for negative numbers, -0.0 and -inf. The result is boolean."""

import torch

from pytest_kernelbenchx import fills, task


def with_zeros(rng, shape, kind):
    """Normal values, an eighth of them made zeros of their sign."""
    values = fills.normal()(rng, shape, kind)
    return torch.where(torch.rand(shape, generator=rng) < 0.125, 0 * values, values)


@task(
    inputs={"input": "T[*S]"},
    output="bool[*S]",
    dtypes=("f32", "f16", "bf16"),
    fill={"input": with_zeros},
    examples=[
        dict(input=[1.0, -1.0, 0.0, -0.0, 3.5, -2.2, -0.1], out=True),
        dict(input=[1e10, -1e10, 1e-10, -1e-10, float("inf"), -float("inf")]),
        dict(S=[64, 64], fill="both"),
        dict(S=[0]),
    ],
    sizes={"4k": dict(S=[4096]), "1m": dict(S=[1 << 20]), "128m": dict(S=[1 << 27])},
)
def signbit(input, out=None):
    return torch.signbit(input, out=out)
