"""Solution of A x = b by LU factorisation with partial pivoting.

    A = P L U, then L y = P^T b, then U x = y

`A` is [N, N] and `b` [N], both float32; the result is [N]. The order of the rows matters: most matrices drawn here need
exchanges of rows. An `A` that is singular, so that a pivot is exactly 0, raises RuntimeError. Upstream's reference
drops P and solves L U x = b, which is another system whenever rows are exchanged.
"""

import torch

from pytest_kernelbenchx import matrices, task


@task(
    inputs={"A": "f32[N, N]", "b": "f32[N]"},
    output="f32[N]",
    axes={"N": matrices.LONG_SIDES},
    fill={"A": matrices.shuffled},
    flops=lambda N: {"linalg": 2 * N**3 // 3 + 2 * N**2},
    examples=[
        dict(A=[[1.0, 2.0, 3.0], [0.0, 1.0, 4.0], [5.0, 6.0, 0.0]], b=[6.0, 4.0, 3.0]),
        dict(A=[[0.0, 1.0], [1.0, 0.0]], b=[2.0, 3.0]),
        dict(A=[[1.0, 2.0], [2.0, 4.0]], b=[5.0, 10.0], raises=RuntimeError),
        dict(N=64, fill="both"),
        dict(A=[[3.0, 1.0], [1.0, 2.0]], b=[9.0, 8.0]),
    ],
    sizes={"256": dict(N=256), "1k": dict(N=1024), "4k": dict(N=4096)},
)
def fused_lu_solve(A, b):
    return torch.linalg.solve(A, b)
