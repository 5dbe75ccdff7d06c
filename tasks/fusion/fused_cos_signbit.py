"""Cosine of every element, and whether its sign bit is set: (cos(input), signbit(cos(input))).

`input` is finite, in radians; the second result is boolean. Near the zeros of the cosine the sign must still be right,
so arguments are reduced with care.
"""

import torch

from pytest_kernelbenchx import fills, task


@task(
    inputs={"input": "T[*S]"},
    output=["T[*S]", "bool[*S]"],
    dtypes=("f32", "f16", "bf16"),
    fill={"input": fills.normal(std=4.0)},
    examples=[
        dict(input=[[1.5707, 1.571], [-1.5707, 4.7124], [7.8539, 7.854], [1.4e4, -1.2e6], [-1.0, 0.0]]),
        dict(S=[4096], fill="both"),
        dict(S=[0]),
    ],
    sizes={"4k": dict(S=[4096]), "1m": dict(S=[1 << 20]), "128m": dict(S=[1 << 27])},
)
def fused_cos_signbit(input):
    cosine = torch.cos(input)
    return cosine, torch.signbit(cosine)
