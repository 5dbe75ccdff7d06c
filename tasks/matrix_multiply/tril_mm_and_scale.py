"""Product of the lower triangle of a matrix with another matrix, scaled: beta * alpha * (tril(A) @ B).

    output[i, j] = beta * alpha * sum over k <= i of A[i, k] * B[k, j]

`A` is [N, N] and `B` [N, P], both float32; what `A` holds above its diagonal does not count. `alpha` and `beta` are
numbers. The result is [N, P].
"""

import torch

from pytest_kernelbenchx import task


@task(
    inputs={"A": "f32[N, N]", "B": "f32[N, P]"},
    output="f32[N, P]",
    options={"alpha": [1.0, 0.5, -2.0, 3, 0.0], "beta": [1.0, 0.5, -0.25, 2]},
    examples=[
        dict(A=[[1.0, 2.0], [3.0, 4.0]], B=[[5.0, 6.0], [7.0, 8.0]], alpha=1.0, beta=1.0),
        dict(A="zeros", N=2, P=2, alpha=1.0, beta=1.0),
        *[dict(N=n, P=p, alpha=1.0, beta=0.5, fill="both") for n, p in ((64, 32), (128, 16))],
        dict(N=129, P=65, alpha=-1.5, beta=3.0),
        dict(A=[[1.0, 9.0], [3.0, 4.0]], B=[[2.0, 3.0, 1.0], [4.0, 5.0, -1.0]], alpha=0.5, beta=2.0),
    ],
    sizes={label: dict(N=n, P=n, alpha=0.5, beta=0.5) for label, n in (("256", 256), ("2k", 2048), ("4k", 4096))},
    flops=lambda N, P: {"tensor": N * (N + 1) * P},
)
def tril_mm_and_scale(A, B, alpha, beta):
    return beta * alpha * torch.mm(torch.tril(A), B)
