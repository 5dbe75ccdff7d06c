"""Matrix product of two bfloat16 tensors, summed in float32 and rounded once.

Matrices [M, K] and [K, N] give [M, N], batches [B, M, K] and [B, K, N] give [B, M, N], and a vector [K] on the left
stands for a row: [K] and [K, N] give [N]. These are the cases of torch.matmul that the task has.
Upstream cuts its random inputs, outliers included, to -5 .. 5; here they stay as drawn. It also allows a relative error
of 0.005, less than the distance of two neighbouring bfloat16 numbers.
"""

import torch

from pytest_kernelbenchx import Shapes, task


@task(
    inputs={"input": "bf16[*B, *M, K]", "other": "bf16[*B, K, N]"},
    output="bf16[...]",
    dtypes=("bf16",),
    axes={"B": Shapes(0, 1, longest=5), "M": [[], [1], [2], [7], [16], [17], [31], [64], [65], [97], [128]]},
    where=lambda B, M: M or not B,  # a vector has no batch
    examples=[
        dict(B=[], M=[64], K=128, N=256, fill="both"),
        dict(B=[4], M=[64], K=128, N=64, fill="both"),
        dict(B=[2], M=[33], K=1024, N=65),
        dict(B=[], M=[129], K=1025, N=65),
        dict(B=[], M=[], K=5000, N=3),
        dict(input=[[1e20, 1.0]], other=[[1e-20, 1e10], [1.0, -1e10]], B=[], M=[1]),  # beyond float16
    ],
    sizes={
        **{str(n): dict(B=[], M=[n], K=n, N=n) for n in (256, 1024, 4096)},
        "batch": dict(B=[64], M=[512], K=512, N=512),
    },
    flops=lambda B, M, K, N: {"tensor": 2 * K * N * torch.Size(B + M).numel()},
)
def matmul_bf16(input, other):
    return torch.matmul(input, other)
