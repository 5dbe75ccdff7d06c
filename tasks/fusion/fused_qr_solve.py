"""Least squares by QR factorisation: the x for which |A x - b| is least.

    A = Q R with orthonormal columns of Q [M, N] and R [N, N] upper triangular, then R x = Q^T b

`A` is [M, N] with M >= N and of full rank, `b` [M, K], both float32; the result is [N, K]. With M = N, A x = b.
"""

import torch

from pytest_kernelbenchx import fills, matrices, task


def full_rank(rng, shape, kind):
    """Orthonormal columns, mixed by a well-conditioned matrix."""
    columns, _ = torch.linalg.qr(torch.randn(shape, generator=rng, dtype=torch.float64))
    return columns @ fills.well_conditioned(rng, [shape[1], shape[1]], kind)


@task(
    inputs={"A": "f32[N + E, N]", "b": "f32[N + E, K]"},
    output="f32[N, K]",
    axes={"N": matrices.LONG_SIDES, "E": (0, 0, 1, 2, 7, 16, 33), "K": (1, 2, 3, 8, 10, 16, 17)},
    fill={"A": full_rank},
    flops=lambda N, E, K: {"linalg": 2 * (N + E) * N**2 - 2 * N**3 // 3 + 2 * (N + E) * N * K + N**2 * K},
    examples=[
        dict(A=[[1.0, 2.0], [3.0, 4.0]], b=[[5.0], [6.0]], N=2, E=0),
        dict(N=32, E=32, K=16, fill="both"),
        dict(N=17, E=100, K=3),
        dict(A=[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], b=[[7.0, 8.0], [9.0, 10.0], [11.0, 12.0]], N=2, E=1),
    ],
    sizes={label: dict(N=n, E=n, K=10) for label, n in (("16", 16), ("256", 256), ("2k", 2048))},
)
def fused_qr_solve(A, b):
    q, r = torch.linalg.qr(A)
    return torch.linalg.solve_triangular(r, q.mT @ b, upper=True)
