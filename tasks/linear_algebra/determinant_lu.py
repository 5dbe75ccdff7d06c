"""Determinant of square matrices by LU factorisation: A = P L U, then det(A) = det(P) * product of the diagonal of U.

`A` is [..., N, N], float32 or float64; the result is [...]. With `pivot` rows are exchanged (partial pivoting), most
matrices need it, and det(P) is 1 or -1 as their number is even or odd. With `pivot=False` none are, and the matrices
drawn then do not need it; the determinant is the same.
"""

import torch

from pytest_kernelbenchx import fills, matrices, task


def factorable(rng, shape, kind, pivot):
    """Matrices of a moderate determinant; with rows divided by their sums where they must stay in their order."""
    if pivot:
        return matrices.determinate(rng, shape, kind)
    values = fills.well_conditioned(rng, shape, kind)
    return values * 2 / values.abs().sum(-1, keepdim=True)


@task(
    inputs={"A": "T[*S, N, N]"},
    output="T[*S]",
    dtypes=("f32", "f64"),
    axes={"S": matrices.BATCHES, "N": matrices.LONG_SIDES},
    fill={"A": factorable},
    flops=lambda S, N: {"linalg": torch.Size(S).numel() * 2 * N**3 // 3},
    examples=[
        dict(A=[[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]]),
        dict(A=[[1.0, 2.0, 3.0], [0.0, 1.0, 4.0], [5.0, 6.0, 0.0]], pivot=False),
        *[dict(S=[], N=16, pivot=pivot, dtype="f64", fill="both") for pivot in (True, False)],
        dict(A=[[0.0, 2.0, 0.0], [0.0, 0.0, 4.0], [8.0, 0.0, 0.0]]),
        dict(A=[[0.0, 0.0, 3.0], [0.0, 5.0, 0.0], [7.0, 0.0, 0.0]]),
        dict(S=[2], N=33, out=True),
        dict(A=[[4.0, 2.0, 2.0], [2.0, 1.0, 3.0], [2.0, 1.0, 5.0]]),
    ],
    sizes={"16": dict(S=[], N=16), "256": dict(S=[], N=256), "2k": dict(S=[], N=2048)},
)
def determinant_lu(A, *, pivot=True, out=None):
    return torch.linalg.det(A)
