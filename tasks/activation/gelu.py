"""Gaussian error linear unit of every element.

    approximate="none": x / 2 * (1 + erf(x / sqrt(2)))
    approximate="tanh": x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x ** 3)))

`input` has any shape and a floating-point type; the result has the same shape and type. 16-bit types are computed in
float32 and rounded once. The two forms differ by up to 5e-4, so that one cannot stand for the other. Any other
`approximate` is an error.
"""

import torch

from pytest_kernelbenchx import Shapes, fills, task

FORMS = ("none", "tanh")


def told(rng, shape, dtype, kind):
    """Normal values, those between -6 and -2 mirrored: 1 + erf or tanh would be little but rounding there."""
    values = fills.default(rng, shape, dtype, kind)
    return torch.where((values > -6) & (values < -2), -values, values)


@task(
    inputs={"input": "T[*S]"},
    output="T[*S]",
    dtypes=("f32", "f16", "bf16"),
    axes={"S": Shapes(0, 4, min_side=0)},
    fill={"input": told},
    options={"approximate": FORMS},
    examples=[
        *[dict(input=[-10.0, -3.0, -2.0, -1.0, 0.0, 1.0, 2.0], approximate=form) for form in FORMS],
        *[dict(input=[-2.5, -3.0, -3.5], approximate=form, dtype="bf16") for form in FORMS],
        *[dict(S=[128, 129], approximate=form, fill=fill) for form in FORMS for fill in ("standard", "outlier")],
        dict(input=[100.0, -100.0, 1e-3, -1e-3, float("inf"), float("nan")], approximate="tanh"),
        dict(S=[3], approximate="erf", raises=RuntimeError),
        dict(S=[0]),
    ],
    sizes={"4k": dict(S=[4096]), "1m": dict(S=[1 << 20]), "128m": dict(S=[1 << 27])},
)
def gelu(input, approximate="none"):
    return torch.nn.functional.gelu(input, approximate=approximate)
