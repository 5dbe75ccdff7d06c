"""Solve A @ X = B for X, A square.

`A` is [*S, N, N], float32 or float64; `B` is either a vector per matrix, [*S, N], or a matrix, [*S, N, K]. The result
has B's shape. RuntimeError (torch.linalg.LinAlgError) is raised if a matrix is singular, RuntimeError if A is not
square. The matrices that are drawn are not symmetric, have condition numbers of up to 10 and need pivoting.
"""

import torch

from pytest_kernelbenchx import fills, matrices, task


def turned(rng, shape, kind):
    """Matrices with singular values between 1 and 10, and no structure; with outliers, a row is 50 times larger."""
    values = matrices.with_spectrum(rng, shape, 10 ** torch.rand(shape[:-1], generator=rng, dtype=torch.float64))
    return values * fills.with_outliers(torch.ones((*shape[:-1], 1)), rng) if kind == "outlier" else values


@task(
    inputs={"A": "T[*S, N, N]", "B": "T[*S, N, *R]"},
    output="T[*S, N, *R]",
    dtypes=("f32", "f64"),
    axes={"S": matrices.BATCHES, "N": matrices.SIDES, "R": ([], [1], [2], [5], [32], [33])},
    fill={"A": turned},
    flops=lambda S, N, R: {"linalg": torch.Size(S).numel() * (2 * N**3 // 3 + 2 * N * N * torch.Size(R).numel())},
    examples=[
        dict(A=[[1.0, 2.0, 3.0], [0.0, 1.0, 4.0], [5.0, 6.0, 0.0]], B=[6.0, 4.0, 3.0], S=[], R=[]),
        dict(A=[[1.0, 2.0], [2.0, 4.0]], B=[5.0, 10.0], S=[], R=[], raises=RuntimeError),
        dict(A=[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], B=[7.0, 8.0], S=[], R=[], raises=RuntimeError),
        *[dict(S=[], N=N, R=R, dtype="f64", fill="both") for N, R in ((8, []), (16, [4]))],
        dict(S=[], N=65, R=[1]),
        dict(A=[[0.0, 1.0], [1.0, 0.0]], B=[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], S=[], R=[3]),
    ],
    sizes={"64": dict(S=[], N=64, R=[1]), "256": dict(S=[], N=256, R=[64]), "16kx32": dict(S=[16384], N=32, R=[1])},
)
def solve(A, B):
    return torch.linalg.solve(A, B)
