"""Linear layer, then exponential linear unit: x = input @ weight.T + bias if x > 0, alpha * (exp(x) - 1) elsewhere.

`input` is [..., K], `weight` [N, K] and `bias`, if given, [N]. `alpha` is any number. `inplace` has no effect that can
be seen.
"""

import math

from torch.nn import functional

from pytest_kernelbenchx import Shapes, fills, task


@task(
    inputs={"input": "T[*M, K]", "weight": "T[N, K]", "bias": "T[N] | None"},
    output="T[*M, N]",
    dtypes=("f32", "f16", "bf16"),
    axes={"M": Shapes(0, 3, longest=129)},
    fill={"weight": fills.fan_in},
    options={"alpha": [1.0, 0.5, 2, 0.0, -0.75]},
    flops=lambda M, N, K: {"tensor": 2 * K * N * math.prod(M)},
    examples=[
        dict(input=[[1.0, 2.0], [3.0, 4.0]], weight=[[0.5, -0.5], [-0.5, 0.5]], bias=[0.0, 0.0], inplace=True),
        dict(input=[[0.0], [-0.001], [-200.0], [200.0]], weight=[[1.0], [-1.0]], alpha=2),
        dict(M=[64], K=128, N=256, bias=True, alpha=0.5, dtype="f16", fill="both"),
        dict(M=[33], K=1025, N=33, bias=True),
    ],
    sizes={
        "256": dict(M=[1024], K=256, N=256, bias=True),
        "long": dict(M=[1024], K=65536, N=256, bias=True),
        "4k": dict(M=[4096], K=4096, N=4096, bias=True, dtype="f16"),
    },
)
def fused_elu_linear(input, weight, bias=None, alpha=1.0, inplace=False):
    return functional.elu(functional.linear(input, weight, bias), alpha, inplace)
