"""Sign bits, and bits in common: the pair (signbit(input), int8(input) & int8(other)), element by element.

`input` is float32, `other` int8 or boolean, of the same shape. The first result is boolean and True where the sign bit
of `input` is set, -0.0 included. The second is int8: `input` is cut to an integer towards 0 (its values lie from -128
to below 128), and True counts as 1. Both results are exact or wrong.
"""

import torch

from pytest_kernelbenchx import fills, task


def of_eight_bits(rng, shape, kind):
    """From -128 to 127.9, an eighth of them made zeros of their sign; the outliers lie at the ends."""
    values = fills.normal(std=40.0, low=-128, high=127.9)(rng, shape, kind)
    return torch.where(torch.rand(shape, generator=rng) < 0.125, 0 * values, values)


@task(
    inputs={"input": "f32[*S]", "other": "T[*S]"},
    output=("bool[*S]", "i8[*S]"),
    dtypes=("i8", "bool"),
    fill={"input": of_eight_bits, "other": fills.bits},
    examples=[
        dict(input=[0.7, -1.2, 0.0, -0.0, 2.3, -2.3], other=[1, 0, 1, 1, 1, 1], S=[6]),
        dict(input=[0.0, 1.2, 0.0, 2.3], other=[True, False, True, True], dtype="bool"),
        dict(input=[-128.0, -127.99, 127.99, -0.99, -1.0], other=[-1, -1, 127, -1, -128]),
        dict(S=[1024], dtype=("i8", "bool"), fill="both"),
        dict(S=[0]),
    ],
    sizes={"4k": dict(S=[4096]), "1m": dict(S=[1 << 20]), "128m": dict(S=[1 << 27])},
)
def signbit_bitwise_and(input, other):
    return torch.signbit(input), input.to(torch.int8) & other.to(torch.int8)
