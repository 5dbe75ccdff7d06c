"""LDL factorisation of symmetric matrices, in the packed form of LAPACK's ?sytrf and ?hetrf with the lower triangle.

    A = (P L) D (P L)^T, or (P L)^H for complex matrices with `hermitian`

`A` is [..., N, N], float32, float64 or complex64, symmetric; with `hermitian` a complex one is Hermitian instead, and
the flag means nothing for real ones. The result is the tuple `(LD, pivots)`: LD [..., N, N] like A, pivots [..., N]
int32. D is block diagonal: its diagonal is that of LD, and where pivots[k] = pivots[k + 1] < 0, there is a 2 x 2 block
with LD[k + 1, k] beside it. L has ones on its diagonal; below D's blocks it is what LD holds, but as it was when its
column was done: the exchanges that follow still apply to its rows. pivots[k] = p > 0 says that rows and columns k and
p - 1 were exchanged before column k was eliminated, for a 2 x 2 block -p that k + 1 and p - 1 were. LD above the
diagonal holds anything. `out` is a tuple of two tensors, for LD and pivots.

Any choice of pivots is right whose factors give A back. Without exchanges elimination divides by 0 in some of the
matrices drawn, and has large errors in others. Upstream compares factors and pivots one by one.
"""

import torch

from pytest_kernelbenchx import matrices, task
from pytest_kernelbenchx.judge.factorisations import ldl_properties


@task(
    inputs={"A": "T[*S, N, N]"},
    output=["T[*S, N, N]", "i32[*S, N]"],
    dtypes=("f32", "f64", "c64"),
    axes={"S": matrices.BATCHES, "N": matrices.SIDES},
    fill={"A": matrices.indefinite},
    properties=ldl_properties,
    flops=lambda S, N: {"linalg": torch.Size(S).numel() * N**3 // 3},
    examples=[
        dict(A=[[[4.0, 1.0], [1.0, 3.0]], [[2.0, 0.5], [0.5, 2.0]]]),
        dict(A=[[[2.0, 1.0 - 1.0j], [1.0 + 1.0j, -3.0]], [[3.0, 0.5j], [-0.5j, 2.0]]], dtype="c64", hermitian=True),
        dict(S=[], N=16, hermitian=True, fill="both", dtype=("f64", "c64")),
        dict(A=[[0.0, 1.0], [1.0, 0.0]]),
        dict(A=[[0.0, 2.0, 0.0], [2.0, 0.0, 3.0], [0.0, 3.0, 5.0]]),
        dict(A=[[1.0j, 2.0 + 1.0j], [2.0 + 1.0j, 3.0 - 1.0j]], dtype="c64"),
        dict(A=[[-2.0]]),
        dict(S=[3], N=33, out=True),
        dict(A=[[1e-6, 1.0, 2.0], [1.0, 1.0, -1.0], [2.0, -1.0, 1e-6]]),
    ],
    sizes={"32": dict(S=[], N=32), "256": dict(S=[], N=256), "1k": dict(S=[], N=1024)},
)
def ldl_factor(A, hermitian=False, out=None):
    return torch.linalg.ldl_factor(A, hermitian=hermitian)
