"""Linear layer, ReLU, then layer normalisation without weights: (h - mean) / sqrt(var + eps) of h = max(0, z).

    z = input @ weight.T + bias

`input` is [K] or [..., K], `weight` [N, K] and `bias`, if given, [N]; the result is [..., N]. `normalized_shape` is N,
or a list or tuple of the last lengths of the result: mean and variance (divided by the count) are taken over these
dimensions. `elementwise_affine` has no effect, since there are no weights to scale with.
"""

import torch
from torch.nn import functional

from pytest_kernelbenchx import Shapes, task


@task(
    inputs={"input": "T[*S, K]", "weight": "T[N, K]", "bias": "T[N] | None"},
    output="T[*S, N]",
    dtypes=("f32", "f16"),
    axes={"S": Shapes(1, 2)},
    options={"normalized_shape": lambda S, N: [N, (N,), [N], [S[-1], N]], "eps": [1e-5, 1e-3, 0.5]},
    where=lambda N: N > 1,  # one value alone gives 0, to rounding
    flops=lambda S, K, N: {"tensor": 2 * torch.Size(S).numel() * K * N},
    examples=[
        dict(S=[4], K=5, N=3, bias=True, normalized_shape=3),
        dict(S=[64], K=128, N=256, bias=True, normalized_shape=256, fill="both", dtype=("f32", "f16")),
        dict(S=[3], K=33, N=1500, bias=True, normalized_shape=(1500,)),
        dict(S=[2], K=1, N=16411, normalized_shape=16411, eps=0.5),
        dict(S=[3], K=2, N=4, normalized_shape=4, input="zeros"),
        dict(S=[3], K=5, N=1, normalized_shape=1),
        dict(S=[2, 7], K=65, N=31, normalized_shape=(7, 31), eps=1e-3, elementwise_affine=False),
    ],
    sizes={
        "256": dict(S=[32], K=256, N=128, bias=True, normalized_shape=128),
        "16k": dict(S=[32], K=16384, N=8192, bias=True, normalized_shape=8192),
        "batch": dict(S=[4096], K=4096, N=4096, bias=True, normalized_shape=4096),
        "half": dict(S=[8192], K=8192, N=8192, bias=True, normalized_shape=8192, dtype="f16"),
    },
)
def fused_layer_norm_relu_linear(input, weight, bias=None, normalized_shape=None, eps=1e-5, elementwise_affine=True):
    shape = [normalized_shape] if isinstance(normalized_shape, int) else normalized_shape
    return functional.layer_norm(functional.relu(functional.linear(input, weight, bias)), shape, eps=eps)
