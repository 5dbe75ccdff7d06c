"""Matrix product of two tensors, by the rules of torch.matmul.

Matrices [M, K] and [K, N] give [M, N]; leading batch dimensions broadcast. A vector of length K stands for a row on the
left and for a column on the right, and its dimension is missing from the result; two vectors give a scalar tensor.
"""

import torch

from pytest_kernelbenchx import Shapes, task

ROWS = [[], [1], [2], [7], [16], [17], [31], [64], [65], [97], [128]]


@task(
    inputs={"tensor1": "T[*B~, *M, K]", "tensor2": "T[*B~, K, *N]"},
    output="T[...]",
    dtypes=("f32", "f16", "bf16"),
    axes={"B": Shapes(0, 2, longest=5), "M": ROWS, "N": ROWS},
    where=lambda B, M, N: (M and N) or not B,  # a vector has no batch
    examples=[
        dict(tensor1=[[1.0, 2.0], [3.0, 4.0]], tensor2=[[5.0, 6.0], [7.0, 8.0]], B=[], M=[2], K=2, N=[2]),
        dict(tensor1=[1.0, 2.0], tensor2=[[3.0, 4.0], [5.0, 6.0]], B=[], M=[], K=2, N=[2]),
        dict(tensor1=[[1.0, 2.0], [3.0, 4.0]], tensor2=[5.0, 6.0], B=[], M=[2], N=[], K=2),
        dict(B=[], M=[64], K=128, N=[32], fill="both"),
        dict(B=[], M=[129], K=1025, N=[65]),
        dict(B=[], M=[193], K=9, N=[321]),
        dict(B=[], M=[], K=5000, N=[]),
        dict(B=[], M=[3], K=0, N=[4]),
    ],
    sizes={
        **{str(n): dict(B=[], M=[n], K=n, N=[n], dtype="f16") for n in (256, 1024, 4096)},
        "2k_f32": dict(B=[], M=[2048], K=2048, N=[2048]),
    },
    flops=lambda B, M, K, N: {"tensor": 2 * K * torch.Size(B + M + N).numel()},
)
def matmul(tensor1, tensor2):
    return torch.matmul(tensor1, tensor2)
