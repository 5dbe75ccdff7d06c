"""Cosine of every element, and whether its sign bit is set: (cos(input), signbit(cos(input))).

`input` is finite, in radians, and has any shape and a floating-point type. The first result has the same shape and
type, the second the same shape and is boolean. Near the zeros of the cosine the sign must still be right, so arguments
are reduced with care. Nothing is mutated.
"""

import torch

from pytest_kernelbenchx import Shapes, fills, task


@task(
    inputs={"input": "T[*S]"},
    output=["T[*S]", "bool[*S]"],
    dtypes=("f32", "f16", "bf16"),
    axes={"S": Shapes(0, 4, min_side=0)},
    fill={"input": fills.normal(std=4.0)},
    examples=[
        dict(input=[0.0, 1.0, 2.0]),
        dict(input=[-1.0, -2.0, -3.0]),
        dict(input=[-1.0, 0.0, 1.0]),
        dict(input=[3.142, -3.142, 6.283]),
        dict(input=[[1.5707, 1.571], [-1.5707, 4.7124], [7.8539, 7.854], [1.4e4, -1.2e6]]),
        *[dict(S=[4096], fill=fill) for fill in ("standard", "outlier")],
        dict(S=[0]),
    ],
    sizes={"4k": dict(S=[4096]), "1m": dict(S=[1 << 20]), "128m": dict(S=[1 << 27])},
)
def fused_cos_signbit(input):
    cosine = torch.cos(input)
    return cosine, torch.signbit(cosine)
