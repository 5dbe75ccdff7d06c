"""Linear layer, then softplus: log(1 + exp(beta * z)) / beta of z = input @ weight.T + bias.

`input` is [K] or [..., K], `weight` [N, K] and `bias`, if given, [N]; the result is [..., N]. `beta` is positive. Where
beta * z > `threshold` the result is z, so that no exponential overflows; the tiny values that very negative z give are
kept. Upstream compares z itself with `threshold`: the two are drawn so that this makes no difference but for its
overflows.
"""

import torch
from torch.nn import functional

from pytest_kernelbenchx import Shapes, task

LITERAL = dict(input=[[10.0, 20.0], [3.0, 4.0]], weight=[[0.5, 0.5], [0.5, -0.5]])


def thresholds(beta, dtype):
    """Low ones, where the result jumps by log(1 + exp(-threshold)), only for beta = 1 and where few z are rounded."""
    return (20, 1, 15, 5) if beta == 1 and dtype == "f32" else (20, 30)


@task(
    inputs={"input": "T[*S, K]", "weight": "T[N, K]", "bias": "T[N] | None"},
    output="T[*S, N]",
    dtypes=("f32", "f16"),
    axes={"S": Shapes(0, 2)},
    options={"beta": (1, 2, 0.5, 8), "threshold": thresholds},
    tolerance={"ties": 0.4},
    flops=lambda S, K, N: {"tensor": 2 * torch.Size(S).numel() * K * N},
    examples=[
        dict(LITERAL, threshold=2),
        dict(S=[64], K=128, N=256, bias=True, fill="both"),
        *[dict(S=[5], K=7, N=N, bias=True) for N in (65, 129)],
        dict(input=[[1.0, 0.5]], weight=[[-17.0, -8.0], [-20.0, 2.5], [-25.0, 3.0]]),
        dict(S=[3, 43], K=65, N=33, bias=True, dtype="f16"),
        dict(S=[1], K=1025, N=70, beta=8),
        dict(LITERAL, bias=[0.0, 0.25], beta=2),
    ],
    sizes={
        "256": dict(S=[1], K=256, N=256, bias=True),
        "16k": dict(S=[1], K=16384, N=16384, bias=True),
        "batch": dict(S=[4096], K=4096, N=4096, bias=True),
        "half": dict(S=[8192], K=8192, N=8192, bias=True, dtype="f16"),
    },
)
def fused_softplus_linear(input, weight, bias=None, beta=1, threshold=20):
    return functional.softplus(functional.linear(input, weight, bias), beta, threshold)
