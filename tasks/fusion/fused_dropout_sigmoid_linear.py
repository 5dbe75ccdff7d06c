"""Linear layer, logistic function, then dropout: dropout(sigmoid(input @ weight.T + bias), p, training).

`input` is [..., K], `weight` [N, K] and `bias`, if given, [N]. `inplace` has no effect that can be seen.
Upstream's sums are so large that the logistic function gives 0 or 1 nearly everywhere.
"""

import math

import torch
from torch.nn import functional

from pytest_kernelbenchx import Dropout, Shapes, fills, task


@task(
    inputs={"input": "T[*M, K]", "weight": "T[N, K]", "bias": "T[N] | None"},
    output="T[*M, N]",
    dtypes=("f32", "f16"),
    axes={"M": Shapes(0, 3, longest=129)},
    fill={"weight": fills.fan_in},
    random=Dropout(),
    flops=lambda M, N, K: {"tensor": 2 * K * N * math.prod(M)},
    examples=[
        *[dict(M=[64], K=128, N=256, bias=True, p=0.1, training=on, fill="both") for on in (False, True)],
        dict(M=[33], K=1025, N=33, training=False),
        dict(M=[5, 7], K=17, N=31, bias=True, p=0.8, dtype="f16"),
        dict(M=[16], K=8, N=16, p=1.0),
        dict(M=[2], K=2, N=2, p=-0.5, raises=ValueError),
    ],
    sizes={
        "256": dict(M=[1024], K=256, N=256, bias=True),
        "long": dict(M=[1024], K=32768, N=256, bias=True),
        "4k": dict(M=[4096], K=4096, N=4096, bias=True, dtype="f16"),
    },
)
def fused_dropout_sigmoid_linear(input, weight, bias=None, p=0.5, training=True, inplace=False):
    return functional.dropout(torch.sigmoid(functional.linear(input, weight, bias)), p, training, inplace)
