"""Cholesky factor of positive definite matrices: A = L L^H with L lower triangular and a positive diagonal.

`A` is [..., N, N], symmetric, or Hermitian if complex; float32, float64, complex64 or complex128. The result is L, or
U = L^H, so that A = U^H U, if `upper`; its other half is exactly 0. Only one triangle of `A` need be read. RuntimeError
(torch.linalg.LinAlgError) is raised if some `A` is not positive definite, RuntimeError if it is not square. Upstream's
reference raises for an `A` that is not symmetric as well; here there is none.
"""

import torch

from pytest_kernelbenchx import matrices, task

HERMITIAN = [[2.0, 1.0 - 1.0j], [1.0 + 1.0j, 3.0]]


@task(
    inputs={"A": "T[*S, N, N]"},
    output="T[*S, N, N]",
    dtypes=("f32", "f64", "c64", "c128"),
    axes={"S": matrices.BATCHES, "N": matrices.LONG_SIDES},
    fill={"A": matrices.definite},
    flops=lambda S, N: {"linalg": torch.Size(S).numel() * N**3 // 3},
    examples=[
        dict(A=[[4.0, 2.0], [2.0, 5.0]], dtype="f64"),
        *[dict(S=[], N=16, upper=upper, fill="both", dtype=("f64", "c64")) for upper in (False, True)],
        dict(A=[[1.0, 2.0], [2.0, 1.0]], raises=RuntimeError),
        dict(A=[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], raises=RuntimeError),
        dict(S=[3], N=65, upper=True, out=True),
        dict(A=HERMITIAN, dtype="c128", upper=True),
    ],
    sizes={**{str(n): dict(S=[], N=n) for n in (256, 1024, 4096)}, "batch": dict(S=[16384], N=32)},
)
def cholesky(A, upper=False, out=None):
    return torch.linalg.cholesky(A, upper=upper)
