"""Inverse of a matrix by LU factorisation: A = P L U, then L Y = P^T, then U X = Y.

`A` is [N, N], float32 or float64; the result X is [N, N] with A X = 1. With `pivot=False` rows are not exchanged (P is
1), and the matrices drawn then are such that no exchange is needed; with `pivot=True` most of them need it. With `out`
the result is written there and returned. Nothing is mutated. Upstream's reference solves L Y = P instead, which is
wrong unless P is symmetric.
"""

import torch

from pytest_kernelbenchx import fills, task


def invertible(rng, shape, kind, pivot):
    """Well-conditioned matrices, with their rows in a random order if rows may be exchanged."""
    values = fills.well_conditioned(rng, shape, kind)
    return values[torch.randperm(shape[0], generator=rng)] if pivot else values


SMALL = [[4.0, 3.0], [6.0, 3.0]]
THREE = [[7.0, 2.0, 1.0], [0.0, 3.0, -1.0], [-3.0, 4.0, 2.0]]


@task(
    inputs={"A": "T[N, N]"},
    output="T[N, N]",
    dtypes=("f32", "f64"),
    axes={"N": (1, 2, 3, 5, 8, 13, 16, 17, 31, 32, 33, 64, 65)},
    fill={"A": invertible},
    options={"pivot": [True, False]},
    flops=lambda N: {"linalg": 2 * N**3},
    examples=[
        *[dict(A=literal, pivot=pivot) for literal in (SMALL, THREE) for pivot in (True, False)],
        *[
            dict(N=n, pivot=pivot, dtype="f64", fill=fill)
            for n in (8, 16)
            for pivot in (True, False)
            for fill in ("standard", "outlier")
        ],
        dict(A=[[0.0, 2.0, 0.0], [0.0, 0.0, 4.0], [8.0, 0.0, 0.0]]),
        dict(N=65, out=True),
        dict(N=1),
    ],
    sizes={"64": dict(N=64), "512": dict(N=512), "2k": dict(N=2048)},
)
def invert_matrix_lu(A, *, pivot=True, out=None):
    return torch.linalg.inv(A)
