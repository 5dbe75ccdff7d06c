"""input_tensor ** exponent, which broadcast against each other; `exponent` may be a Python number.

A negative base has a power of its sign for integral exponents and NaN for others; 0 gives 0, 1 or inf for a positive
exponent, for 0 and for a negative one. Powers beyond the type's range are infinite or 0.
"""

import torch

from pytest_kernelbenchx import fills, task


def bases(rng, shape, kind):
    """Positive, or in half of the tensors every sixteenth is negative or 0."""
    values, share = fills.positive()(rng, shape, kind), torch.rand(shape, generator=rng)
    if int(torch.randint(2, (), generator=rng)):
        return values
    return torch.where(share < 1 / 16, torch.where(share < 1 / 64, 0, -values), values)


def exponents(rng, shape, kind, input_tensor):
    """Of a size that keeps float32 finite; half of them are integral, and where bases are not positive, natural."""
    values = fills.normal(std=2.0, low=-8, high=8)(rng, shape, kind)
    if bool((input_tensor <= 0).any()):
        return values.round().abs()
    return torch.where(torch.rand(shape, generator=rng) < 0.5, values.round(), values)


@task(
    inputs={"input_tensor": "T[*S~]", "exponent": "T[*S~] | number"},
    output="T[...]",
    dtypes=("f32", "f16", "bf16"),
    fill={"input_tensor": bases, "exponent": exponents},
    examples=[
        dict(input_tensor=[1.0, 2.0, 3.0], exponent=[3.0, 2.0, 1.0], S=[3], out=True),
        *[dict(input_tensor=[-2.0, -1.5, -0.0, 0.0, 2.5], exponent=n) for n in (3, 2.0, 0, -3, 0.5)],
        dict(input_tensor=[-2.0, 0.0, 2.5, 9.0], exponent=-0.5),  # of -0.0 IEEE 754 has inf, PyTorch -inf
        dict(input_tensor=[[-2.0], [0.0]], exponent=[[[3.0, 0.0, -2.0, 0.5]]], S=[1, 2, 4]),
        *[dict(S=[64, 64], exponent=n, fill="both") for n in (2.0, -0.5)],
        dict(S=[1025], exponent=True),
        dict(S=[0], exponent=2),
    ],
    sizes={"4k": dict(S=[4096]), "64m": dict(S=[1 << 26]), "cubes": dict(S=[1 << 27], exponent=3)},
)
def pow(input_tensor, exponent, out=None):
    return torch.pow(input_tensor, exponent, out=out)
