"""Product of two matrices plus a third, then that times its own transpose, plus itself.

    C1 = alpha * (A @ B) + beta * C
    output = alpha * (C1 @ C1.T) + beta * C1

`A` is [N, K], `B` [K, N] and `C`, which keeps its values, [N, N]; `alpha` and `beta` are numbers. The result is [N, N].
For float16, C1 may be rounded to it or not. Upstream times float16 at sizes where every element of the result is
infinite.

The values of `A` are drawn with a variance of 1 / K here, so that both terms of C1 count and float16 holds the result.
"""

import torch

from pytest_kernelbenchx import fills, task


@task(
    inputs={"A": "T[N, K]", "B": "T[K, N]", "C": "T[N, N]"},
    output="T[N, N]",
    dtypes=("f32", "f16"),
    fill={"A": fills.fan_in},
    options={"alpha": (1.0, 0.5, -2.0, 3, 0.0), "beta": (1.0, 0.5, -0.25, 2, 0.0)},
    examples=[
        dict(A=[[1.0, 2.0], [3.0, 4.0]], B=[[0.5, -1.0], [1.5, 2.0]], C=[[1.0, 0.0], [0.0, 1.0]], alpha=2.0, beta=0.5),
        dict(A="zeros", B="zeros", C="zeros", N=2, K=2, alpha=1.0, beta=1.0),
        dict(N=64, K=32, alpha=1.0, beta=0.5, fill="both"),
        dict(N=129, K=65, alpha=-0.5, beta=1.5, dtype="f16"),
        dict(N=65, K=1025, alpha=1.5, beta=-1.0),
    ],
    sizes={
        **{str(n): dict(N=n, K=n, alpha=1.0, beta=0.5, dtype="f16") for n in (256, 1024, 4096)},
        "2k_f32": dict(N=2048, K=2048, alpha=1.0, beta=0.5),
    },
    flops=lambda N, K: {"tensor": 2 * N * N * K + N * N * (N + 1)},  # the second product is symmetric
)
def matrix_multiply_symmetric(A, B, C, alpha, beta):
    first = alpha * torch.mm(A, B) + beta * C
    return alpha * torch.mm(first, first.mT) + beta * first
