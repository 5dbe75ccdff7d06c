"""The matrix product of two int8 matrices, exact, as int32. PyTorch's products and quantizers are ruled out."""

import torch

from pytest_kernelbenchx import task


@task(
    inputs={"input": "i8[M, K]", "weight": "i8[K, N]"},
    output="i32[M, N]",
    dtypes=("i8",),
    axes={"M": (1, 17, 40), "N": (1, 16, 33), "K": (1, 32, 65, 300)},
    layouts=("contiguous",),
    flops=lambda M, N, K: {"tensor": 2 * M * N * K},
    forbid=("quantize", "matmul", "conv", "attention"),
    examples=[dict(M=2, N=3, K=4), dict(M=17, N=33, K=300)],
    sizes={"1k": dict(M=1024, N=1024, K=1024), "4k": dict(M=4096, N=4096, K=4096)},
)
def matmul_w8a8(input, weight):
    return torch.matmul(input.to(torch.int32), weight.to(torch.int32))
