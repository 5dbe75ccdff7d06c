"""Matrix product of two float16 tensors, summed in float32 and rounded once.

Matrices [M, K] and [K, N] give [M, N], batches [B, M, K] and [B, K, N] give [B, M, N], and a vector [K] on the left
stands for a row: [K] and [K, N] give [N]. These are the cases of torch.matmul that the task has.
Upstream cuts its random inputs, outliers included, to -5 .. 5; here they stay as drawn, and results beyond the range
of float16 are infinite.
"""

import math

import torch

from pytest_kernelbenchx import Shapes, task

ROWS = [[], [1], [2], [7], [16], [17], [31], [64], [65], [97], [128]]


@task(
    inputs={"input": "f16[*B, *M, K]", "other": "f16[*B, K, N]"},
    output="f16[...]",
    dtypes=("f16",),
    axes={"B": Shapes(0, 1, longest=5), "M": ROWS},
    where=lambda B, M: M or not B,  # a vector has no batch
    examples=[
        *[dict(B=[], M=[64], K=128, N=256, fill=fill) for fill in ("standard", "outlier")],
        *[dict(B=[4], M=[64], K=128, N=64, fill=fill) for fill in ("standard", "outlier")],
        dict(B=[], M=[], K=128, N=256),
        dict(B=[], M=[256], K=512, N=256),
        dict(B=[], M=[129], K=1025, N=65),
        dict(B=[], M=[], K=5000, N=3),
    ],
    sizes={
        "256": dict(B=[], M=[256], K=256, N=256),
        "1k": dict(B=[], M=[1024], K=1024, N=1024),
        "4k": dict(B=[], M=[4096], K=4096, N=4096),
        "batch": dict(B=[64], M=[512], K=512, N=512),
    },
    flops=lambda B, M, K, N: {"tensor": 2 * K * N * math.prod(B + M)},
)
def matmul_fp16(input, other):
    return torch.matmul(input, other)
