"""Linear layer, then hyperbolic tangent: tanh(input @ weight.T + bias).

`input` is [..., K], `weight` [N, K] and `bias`, if given, [N]; the result is [..., N]. Weights are drawn so small that
the tangent is curved where the sums lie; upstream's give -1 and 1 nearly everywhere.
"""

import torch

from pytest_kernelbenchx import Shapes, fills, task


@task(
    inputs={"input": "T[*M, K]", "weight": "T[N, K]", "bias": "T[N] | None"},
    output="T[*M, N]",
    dtypes=("f32", "f16", "bf16"),
    axes={"M": Shapes(0, 3, longest=129)},
    fill={"weight": fills.fan_in},
    flops=lambda M, N, K: {"tensor": 2 * K * N * torch.Size(M).numel()},
    examples=[
        dict(M=[5], K=3, N=4, bias=True),
        dict(M=[64], K=128, N=256, bias=True, dtype="f16", fill="both"),
        dict(M=[33], K=1025, N=33, bias=True),
        dict(M=[2, 5, 7], K=17, N=31),
        dict(input=[[20.0, -20.0], [0.001, 0.0]], weight=[[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], bias=[0.0, 0.0, 0.001]),
    ],
    sizes={
        "64": dict(M=[64], K=512, N=128, bias=True),
        "1k": dict(M=[1024], K=1024, N=1024, bias=True),
        "4k": dict(M=[4096], K=4096, N=4096, bias=True),
        "4k_f16": dict(M=[4096], K=4096, N=4096, bias=True, dtype="f16"),
    },
)
def fused_tanh_linear(input, weight, bias=None):
    return torch.tanh(torch.nn.functional.linear(input, weight, bias))
