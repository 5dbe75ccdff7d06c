"""Linear layer whose weight is quantized to int4 at run time; activations stay float16.

    output[m, n] = sum over k of input[m, k] * weight[n, k] + bias[n]

`input` is [M, K], `weight` [N, K] (one row per output feature) and `bias`, if given, [N], all float16; the result is
[M, N]. A kernel rounds the weight to 16 levels with a scale per row, or per group of 32, 64 or 128 along K, with or
without an offset; it multiplies by the float16 activations and sums in float32. Upstream compares with an absolute
error that int4 cannot reach, and never passes a bias with random values.
"""

import torch

from pytest_kernelbenchx import W4A16, task


@task(
    inputs={"input": "f16[M, K]", "weight": "f16[N, K]", "bias": "f16[N] | None"},
    output="f16[M, N]",
    dtypes=("f16",),
    flops=lambda M, N, K: {"tensor": 2 * M * N * K},
    quantized=W4A16,
    reduction="K",
    scales={"weight": -1},
    examples=[
        dict(input=[[1.0, 1.0, 1.0, 1.0]], weight=[[7.0, -8.0, 3.5, -3.5]]),
        dict(input="ones", weight=[[100.0, 0.1, 0.1, 0.1], [0.1, 0.1, 0.1, 0.1]], M=1),
        dict(M=2, weight=[[0.0, 0.0, 0.0, 0.0], [8.0, 8.0, 8.0, 8.0], [0.0, 8.0, 0.0, 8.0]]),
        dict(M=16, K=256, N=128, fill="both"),
        dict(M=8, K=128, N=64, bias=True, fill="both"),
        dict(M=1, K=257, N=33, bias=True),
        dict(input=[[2.0, 2.0, 2.0, 2.0]], weight=[[0.5, -0.5, 1.0, -1.0]], bias=[10.0]),
    ],
    sizes={
        "1x4k": dict(M=1, N=4096, K=4096, bias=True),
        "32x16k": dict(M=32, N=16384, K=4096, bias=True),
        "4kx4k": dict(M=4096, N=4096, K=4096, bias=True),
    },
)
def linear_w4a16(input, weight, bias=None):
    return torch.nn.functional.linear(input, weight, bias)
