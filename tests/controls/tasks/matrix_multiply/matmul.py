"""The matrix product of `a` and `b`."""

import torch

from pytest_kernelbenchx import task


@task(
    inputs={"a": "f32[M, K]", "b": "f32[K, N]"},
    output="f32[M, N]",
    axes={"M": (1, 17, 33), "N": (1, 16, 33), "K": (1, 32, 65)},
    layouts=("contiguous",),
    flops=lambda M, N, K: {"tensor": 2 * M * N * K},
    examples=[dict(M=2, N=3, K=4), dict(M=17, N=33, K=65)],
    sizes={"1k": dict(M=1024, N=1024, K=1024), "4k": dict(M=4096, N=4096, K=4096)},
)
def matmul(a, b):
    return torch.matmul(a, b)
