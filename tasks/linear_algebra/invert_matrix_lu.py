"""Inverse of a matrix by LU factorisation: A = P L U, then L Y = P^T, then U X = Y.

`A` is [N, N], float32 or float64; the result X is [N, N] with A X = 1. With `pivot=False` rows are not exchanged (P is
1), and the matrices drawn then are such that no exchange is needed; with `pivot=True` most of them need it. Upstream's
reference solves L Y = P instead, which is wrong unless P is symmetric.
"""

import torch

from pytest_kernelbenchx import fills, matrices, task


@task(
    inputs={"A": "T[N, N]"},
    output="T[N, N]",
    dtypes=("f32", "f64"),
    axes={"N": matrices.LONG_SIDES},
    fill={
        "A": lambda rng, shape, kind, pivot: (matrices.shuffled if pivot else fills.well_conditioned)(rng, shape, kind)
    },
    flops=lambda N: {"linalg": 2 * N**3},
    examples=[
        dict(A=[[4.0, 3.0], [6.0, 3.0]], pivot=False),
        *[dict(N=16, pivot=pivot, dtype="f64", fill="both") for pivot in (True, False)],
        dict(A=[[0.0, 2.0, 0.0], [0.0, 0.0, 4.0], [8.0, 0.0, 0.0]]),
        dict(N=65, out=True),
        dict(A=[[7.0, 2.0, 1.0], [0.0, 3.0, -1.0], [-3.0, 4.0, 2.0]]),
    ],
    sizes={"64": dict(N=64), "512": dict(N=512), "2k": dict(N=2048)},
)
def invert_matrix_lu(A, *, pivot=True, out=None):
    return torch.linalg.inv(A)
