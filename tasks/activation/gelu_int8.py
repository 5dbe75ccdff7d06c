"""Gaussian error linear unit of int8 values, computed in float32 and truncated toward zero.

    approximate="none": trunc(x / 2 * (1 + erf(x / sqrt(2))))
    approximate="tanh": trunc(x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x ** 3))))

The result is int8, and exact or wrong. All negative values give 0, 2 gives 1, and from 6 on x / 2 * (1 + erf(...))
rounds to x in float32. Any other `approximate` is a RuntimeError.

With "tanh", 5 is never passed: rounding alone decides there between 4 and 5.
"""

import torch

from pytest_kernelbenchx import task

FORMS = ("none", "tanh")


def integers(rng, shape, kind, approximate):
    """Integers from -20 to 20, in outlier cases all that there are."""
    low, high = (-128, 128) if kind == "outlier" else (-20, 21)
    values = torch.randint(low, high, shape, generator=rng)
    return torch.where(values == 5, 6, values) if approximate == "tanh" else values


@task(
    inputs={"input": "i8[*S]"},
    output="i8[*S]",
    dtypes=("i8",),
    fill={"input": integers},
    examples=[
        dict(input=[[-10, -5, 0], [5, 10, 20]]),
        *[dict(input=[-128, -127, -1, 0, 1, 2, 3, 4, 6, 7, 126, 127], approximate=form) for form in FORMS],
        *[dict(S=[4099], approximate=form, fill="both") for form in FORMS],
        dict(S=[3], approximate="erf", raises=RuntimeError),
        dict(S=[0]),
    ],
    sizes={"4k": dict(S=[4096]), "1m": dict(S=[1 << 20]), "128m": dict(S=[1 << 27])},
)
def gelu_int8(input, approximate="none"):
    return torch.nn.functional.gelu(input.float(), approximate=approximate).to(torch.int8)
