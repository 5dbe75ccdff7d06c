"""Batch of matrix products with both operands quantized to int8 at run time.

    output[b, m, n] = sum over k of input[b, m, k] * mat2[b, k, n]

`input` is [B, M, K] and `mat2` [B, K, N], both float32; the result is [B, M, N]. Scales are per row of `input` and per
column of `mat2`, per group along K, or per matrix where the values allow it. Upstream compares with an absolute error
that int8 cannot reach where the values are large.
"""

import torch

from pytest_kernelbenchx import W8A8, task
from pytest_kernelbenchx.judge.operands import beyond_columns


@task(
    inputs={"input": "f32[B, M, K]", "mat2": "f32[B, K, N]"},
    output="f32[B, M, N]",
    axes={"B": (1, 2, 3, 5)},
    flops=lambda B, M, N, K: {"tensor": 2 * B * M * N * K},
    quantized=W8A8,
    reduction="K",
    scales={"input": -1, "mat2": -2},
    traces={
        "input": lambda error, input: beyond_columns(error, input),
        "mat2": lambda error, mat2: beyond_columns(error.mT, mat2.mT),
    },
    examples=[
        dict(B=1, M=8, K=16, N=8),
        dict(B=2, M=1, K=32, N=1),
        dict(input="zeros", mat2="zeros", B=3, M=4, K=8, N=4),
        dict(B=2, M=32, K=64, N=48, fill="both"),
        *[dict(B=b, M=m, K=k, N=n) for b, m, k, n in ((3, 17, 257, 33), (2, 65, 33, 16), (2, 16, 33, 65))],
        dict(input=[[[1.0, -2.0]], [[100.0, 50.0]]], mat2=[[[1.0, 0.0], [2.0, 3.0]], [[0.01, 0.0], [0.02, -0.03]]]),
    ],
    sizes={
        "2x64": dict(B=2, M=64, K=128, N=256),
        "16x512": dict(B=16, M=512, K=1024, N=2048),
        "32x2k": dict(B=32, M=2048, K=1024, N=2048),
    },
)
def bmm_w8a8(input, mat2):
    return torch.bmm(input, mat2)
