"""Solution of A x = b for symmetric matrices, definite or not, by an LDL factorisation: A = L D L^T, D block diagonal.

`A` is [N, N], float32 or complex64, symmetric; with `hermitian` a complex one is Hermitian instead, and A = L D L^H.
`b` is a vector [N] or a matrix [N, K]; the result has its shape. Only the lower triangle of `A` need be read. A stable
elimination exchanges rows and columns or takes blocks of 2 x 2: some of the matrices drawn have zeros on the diagonal.
Upstream's reference takes the numbers of the exchanged rows for D, and the factor with D on its diagonal for L.
"""

import torch

from pytest_kernelbenchx import matrices, task


@task(
    inputs={"A": "T[N, N]", "b": "T[N, *R]"},
    output="T[N, *R]",
    dtypes=("f32", "c64"),
    axes={"N": matrices.SIDES, "R": ([], [1], [2], [5], [32], [33])},
    fill={"A": matrices.indefinite},
    flops=lambda N, R: {"linalg": N**3 // 3 + 2 * N * N * torch.Size(R).numel()},
    examples=[
        dict(A=[[4.0, 1.0], [1.0, 3.0]], b=[1.0, 2.0], R=[]),
        dict(A=[[-4.0, 1.0], [1.0, -3.0]], b=[1.0, 2.0], R=[]),
        dict(A=[[0.0, 1.0], [1.0, 0.0]], b=[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], R=[3]),
        dict(A=[[1.0j, 2.0 + 1.0j], [2.0 + 1.0j, 3.0 - 1.0j]], b=[1.0, 1.0j], R=[], dtype="c64"),
        dict(N=16, R=[], hermitian=True, fill="both", dtype=("f32", "c64")),
        dict(N=33, R=[2], out=True),
        dict(A=[[3.0, 1.0 - 2.0j], [1.0 + 2.0j, -1.0]], b=[1.0, 2.0], R=[], dtype="c64", hermitian=True),
    ],
    sizes={"8": dict(N=8, R=[1]), "128": dict(N=128, R=[1]), "1k": dict(N=1024, R=[1])},
)
def solve_symmetric_ldl(A, b, hermitian=False, out=None):
    LD, pivots = torch.linalg.ldl_factor(A, hermitian=hermitian)
    columns = b if b.dim() == 2 else b.unsqueeze(-1)
    return torch.linalg.ldl_solve(LD, pivots, columns, hermitian=hermitian).reshape(b.shape)
