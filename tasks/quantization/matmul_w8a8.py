"""Matrix product with both operands quantized to int8 at run time.

    output[m, n] = sum over k of input[m, k] * weight[k, n]

`input` is [M, K] and `weight` is [K, N] (not transposed), both float32 and finite; the result is a new float32 tensor
[M, N]. Nothing is mutated. A kernel finds its scales from the tensors that it is given, rounds both to int8, multiplies
int8 by int8 into int32 and scales the sums back to float32. Which scales is its own choice: per row of `input` and per
column of `weight`, per group along K, or per tensor where the values allow it.

The reference is the product without quantization; the error of a result is bounded from above, and from below, since a
product in full precision is not this operation. Upstream compares with an absolute error that int8 cannot reach at its
own sizes, and accepts kernels that do not quantize.
"""

import torch

from pytest_kernelbenchx import W8A8, task


@task(
    inputs={"input": "f32[M, K]", "weight": "f32[K, N]"},
    output="f32[M, N]",
    sizes={
        "256": dict(M=256, N=256, K=256),
        "1k": dict(M=1024, N=1024, K=1024),
        "4k": dict(M=4096, N=4096, K=4096),
        "8k": dict(M=8192, N=8192, K=8192),
    },
    flops=lambda M, N, K: {"tensor": 2 * M * N * K},
    quantized=W8A8,
    reduction="K",
    scales={"input": -1, "weight": 0},
    examples=[
        dict(input=[[1.0, 2.0]], weight=[[1.0, 0.0, -1.0], [2.0, 0.0, 3.0]]),
        dict(input=[[127.0]], weight=[[-127.0]]),
        dict(input=[[1.0, 1.0]], weight=[[100.0, 0.01, -0.01], [0.01, -100.0, 0.01]]),
        dict(input=[[1.0, -1.0]], weight=[[0.0, -0.0], [-0.0, 1.0]]),
        dict(input="zeros", weight="zeros", M=3, K=65, N=17),
        *(dict(M=32, K=256, N=128, fill=fill) for fill in ("standard", "outlier")),
        *(dict(M=64, K=128, N=64, fill=fill) for fill in ("standard", "outlier")),
        dict(M=1, K=257, N=33),
    ],
)
def matmul_w8a8(input, weight):
    return torch.matmul(input, weight)
