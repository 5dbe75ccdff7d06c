"""Matrix product with both operands quantized to int8 at run time.

    output[m, n] = sum over k of input[m, k] * weight[k, n]

`input` is [M, K] and `weight` is [K, N] (not transposed), both float32; the result is [M, N]. Scales are per row of
`input` and per column of `weight`, per group along K, or per tensor where the values allow it. Upstream compares with
an absolute error that int8 cannot reach at its own sizes.
"""

import torch

from pytest_kernelbenchx import W8A8, task
from pytest_kernelbenchx.judge.operands import beyond_columns


@task(
    inputs={"input": "f32[M, K]", "weight": "f32[K, N]"},
    output="f32[M, N]",
    flops=lambda M, N, K: {"tensor": 2 * M * N * K},
    quantized=W8A8,
    reduction="K",
    scales={"input": -1, "weight": 0},
    traces={
        "input": lambda error, input: beyond_columns(error, input),
        "weight": lambda error, weight: beyond_columns(error.mT, weight.mT),
    },
    examples=[
        dict(input=[[1.0, 2.0]], weight=[[1.0, 0.0, -1.0], [2.0, 0.0, 3.0]]),
        dict(input=[[127.0]], weight=[[-127.0]]),
        dict(input=[[1.0, -1.0]], weight=[[0.0, -0.0], [-0.0, 1.0]]),
        dict(input="zeros", weight="zeros", M=3, K=65, N=17),
        *[dict(M=m, K=k, N=n, fill="both") for m, k, n in ((32, 256, 128), (64, 128, 64))],
        *[dict(M=m, K=k, N=n) for m, k, n in ((1, 257, 33), (97, 64, 31), (31, 64, 97))],
        dict(input=[[1.0, 1.0]], weight=[[100.0, 0.01, -0.01], [0.01, -100.0, 0.01]]),
    ],
    sizes={str(n): dict(M=n, N=n, K=n) for n in (256, 1024, 8192)},
)
def matmul_w8a8(input, weight):
    return torch.matmul(input, weight)
