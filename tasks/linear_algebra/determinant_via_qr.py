"""Determinant of a square matrix by QR factorisation: A = Q R, then det(A) = det(Q) * product of the diagonal of R.

`A` is [N, N], float32 or float64; the result is a number, [], 0 for a singular matrix. det(Q) is 1 or -1: each of k
Householder reflections contributes a factor of -1. `mode` chooses the form of Q inside, "reduced" or "complete", which
is the same for a square matrix.
"""

import torch

from pytest_kernelbenchx import matrices, task


@task(
    inputs={"A": "T[N, N]"},
    output="T[]",
    dtypes=("f32", "f64"),
    axes={"N": matrices.LONG_SIDES},
    fill={"A": matrices.determinate},
    options={"mode": ["reduced", "complete"]},
    flops=lambda N: {"linalg": 4 * N**3 // 3},
    examples=[
        dict(A=[[1.0, 2.0], [3.0, 4.0]]),
        dict(A=[[4.0, 0.0], [3.0, 0.0]]),
        *[dict(N=16, mode=mode, dtype="f64", fill="both") for mode in ("reduced", "complete")],
        dict(A=[[0.0, 0.0, 3.0], [0.0, 5.0, 0.0], [7.0, 0.0, 0.0]]),
        dict(A=[[2.0, 0.0], [0.0, 3.0]]),
        dict(N=33, out=True),
        dict(A=[[2.0, 0.0, 1.0], [1.0, 3.0, 2.0], [4.0, 1.0, 3.0]], mode="complete"),
    ],
    sizes={"16": dict(N=16), "512": dict(N=512), "4k": dict(N=4096)},
)
def determinant_via_qr(A, *, mode="reduced", out=None):
    q, r = torch.linalg.qr(A, mode=mode)
    return torch.linalg.det(q) * r.diagonal().prod()
