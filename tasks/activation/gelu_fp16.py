"""The task gelu in float16, with the same two forms.

Upstream's tolerance cannot tell the forms apart; this one can where x is about -3 and they differ by a tenth.
"""

import torch

from pytest_kernelbenchx import fills, task

FORMS = ("none", "tanh")


@task(
    inputs={"input": "f16[*S]"},
    output="f16[*S]",
    dtypes=("f16",),
    fill={"input": fills.for_gelu},
    examples=[
        *[dict(input=[-10.0, -3.0, -1.0, -0.0, 1.0, 3.0, 10.0], approximate=form) for form in FORMS],
        *[dict(input=[-2.25, -2.5, -2.75, -3.0, -3.25, -3.5], approximate=form) for form in FORMS],
        *[dict(S=[2048], approximate=form, fill="both") for form in FORMS],
        dict(S=[3], approximate="erf", raises=RuntimeError),
        dict(S=[0]),
    ],
    sizes={"4k": dict(S=[4096]), "1m": dict(S=[1 << 20]), "128m": dict(S=[1 << 27])},
)
def gelu_fp16(input, approximate="none"):
    return torch.nn.functional.gelu(input, approximate=approximate)
