"""Matrix times its own transpose plus another matrix; then the sum of the absolute values of all elements.

    output = sum over i, j of |alpha * (sum over k of A[i, k] * A[j, k]) + beta * C[i, j]|

`A` is [N, K] and `C` [N, N] (of any values, not symmetric), both float32; `alpha` and `beta` are numbers. The result is
a scalar tensor.
"""

import torch

from pytest_kernelbenchx import task


@task(
    inputs={"A": "f32[N, K]", "C": "f32[N, N]"},
    output="f32[]",
    options={"alpha": (1.0, 0.5, -2.0, 3, 0.0), "beta": (1.0, 0.5, -8.0, 2, 0.0)},
    examples=[
        dict(A=[[1.0, 0.0], [0.0, 1.0]], C=[[1.0, 1.0], [1.0, 1.0]], alpha=0.5, beta=2.0),
        dict(N=64, K=128, alpha=1.0, beta=0.5, fill="both"),
        dict(N=65, K=3, alpha=-0.5, beta=4.0),
        dict(N=3, K=1025, alpha=0.5, beta=-30.0),
        dict(A=[[-1.0, -2.0], [-3.0, -4.0]], C=[[-0.5, -0.5], [-0.5, -0.5]], alpha=1.0, beta=1.0),
    ],
    sizes={str(n): dict(N=n, K=n, alpha=1.0, beta=0.5) for n in (256, 1024, 4096)},
    flops=lambda N, K: {"tensor": N * (N + 1) * K},  # the product is symmetric
)
def symmetric_mm_and_abs_sum(A, C, alpha, beta):
    return (alpha * torch.mm(A, A.mT) + beta * C).abs().sum()
