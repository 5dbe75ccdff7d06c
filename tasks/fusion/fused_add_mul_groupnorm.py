"""Sum and product, then group normalisation: (y - mean) / sqrt(var + eps) * weight + bias of y = (input1 + input2) *
input2.

`input1` is [N, C, ...] and `input2` broadcasts to it. The C channels form `num_groups` groups of consecutive ones; mean
and variance (divided by the count) are those of a group of channels of one n, over all further dimensions. `weight` and
`bias` are [C], or None (1 and 0). A `num_groups` that does not divide C raises RuntimeError.
"""

import math

import torch

from pytest_kernelbenchx import Shapes, fills, task

ALL = dict(weight=True, bias=True)


@task(
    inputs={"input1": "T[*S]", "input2": "T[*S~]", "weight": "T[C] | None", "bias": "T[C] | None"},
    output="T[*S]",
    dtypes=("f32", "bf16"),  # float16 overflows on the way where outliers are multiplied
    axes={"S": Shapes(2, 5), "C": lambda S: [S[1]]},
    fill={"input2": fills.uniform(-2, 2)},  # a factor of 100 for all would leave nothing of input1 in 16 bits
    options={"num_groups": lambda C: [g for g in range(1, C + 1) if C % g == 0], "eps": [1e-5, 1e-3, 0.5]},
    where=lambda S, num_groups: math.prod(S[1:]) > num_groups,  # of one value the deviation is rounding alone
    examples=[
        dict(S=[4, 16, 16, 16], C=16, **ALL, num_groups=4, fill="both"),
        dict(S=[2, 6, 700], C=6, bias=True, num_groups=3, eps=0.1, out=True),
        dict(S=[1, 2, 9001], C=2, **ALL, num_groups=1),
        dict(S=[2, 4, 3], C=4, num_groups=3, raises=RuntimeError),
    ],
    sizes={
        "8": dict(S=[16, 64, 8, 8], C=64, **ALL, num_groups=8),
        "128m": dict(S=[16, 64, 128, 1024], C=64, **ALL, num_groups=8),
        "bf16": dict(S=[64, 256, 56, 56], C=256, **ALL, num_groups=32, dtype="bf16"),
    },
)
def fused_add_mul_groupnorm(input1, input2, weight, bias, num_groups, eps=1e-05, *, out=None):
    return torch.nn.functional.group_norm((input1 + input2) * input2, num_groups, weight, bias, eps)
