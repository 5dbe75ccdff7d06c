"""Solution of A x = b for a symmetric positive definite A, by its Cholesky factor.

    A = L L^T with L lower triangular, then L y = b, then L^T x = y

`A` is [N, N] and `b` [N, K], both float32. Only the lower triangle of `A` need be read. Condition numbers are up to
10 ** 4; upstream's random matrices are so ill-conditioned that the exact solution misses its tolerance.
"""

import torch

from pytest_kernelbenchx import fills, task


@task(
    inputs={"A": "f32[N, N]", "b": "f32[N, K]"},
    output="f32[N, K]",
    axes={"N": (1, 2, 3, 5, 8, 13, 16, 17, 31, 32, 33, 64, 65), "K": (1, 2, 3, 8, 16, 17, 33)},
    fill={"A": fills.positive_definite},
    flops=lambda N, K: {"linalg": N**3 // 3 + 2 * N * N * K},
    examples=[
        dict(A=[[4.0, 1.0], [1.0, 3.0]], b=[[1.0], [2.0]]),
        dict(A=[[7.0, 3.0, 1.0], [3.0, 6.0, 2.0], [1.0, 2.0, 5.0]], b=[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]),
        dict(N=64, K=8, fill="both"),
    ],
    sizes={"64": dict(N=64, K=1), "512": dict(N=512, K=1), "2k": dict(N=2048, K=16)},
)
def fused_cholesky_solve(A, b):
    return torch.cholesky_solve(b, torch.linalg.cholesky(A))
