"""Eigenvalues and right eigenvectors of square matrices, symmetric or not: A V = V diag(w).

`A` is [..., N, N], float32 or float64, real. The result is the tuple `(w, V)`, complex64 or complex128 even where all
is real: w [..., N], every eigenvalue as often as its multiplicity, in any order; V [..., N, N], whose column i is an
eigenvector of w[i] with Euclidean norm 1, of any phase. The eigenvectors of a repeated eigenvalue need not be
orthogonal, but of a diagonal matrix they are linearly independent; some matrices have too few (a Jordan block): then
columns may coincide.

Judged are A V = V diag(w), the norms, and the eigenvalues as a set, by the characteristic polynomial. Upstream compares
values and vectors one by one and bit for bit.
"""

import torch

from pytest_kernelbenchx import fills, matrices, task
from pytest_kernelbenchx.judge.factorisations import eig_properties


def some_symmetric(rng, shape, kind):
    """Normal values; one matrix in three is symmetric."""
    values = fills.normal()(rng, shape, kind)
    return values if int(torch.randint(3, (), generator=rng)) else (values + values.mT) / 2


@task(
    inputs={"A": "T[*S, N, N]"},
    output=["c64[...]", "c64[...]"],
    dtypes=("f32", "f64"),
    axes={"S": matrices.BATCHES, "N": matrices.SIDES},
    fill={"A": some_symmetric},
    properties=eig_properties,
    flops=lambda S, N: {"linalg": torch.Size(S).numel() * 25 * N**3},
    examples=[
        dict(A=[[2.0, 0.0], [0.0, 3.0]]),
        dict(A=[[1.0, 0.0], [0.0, 1.0]]),
        dict(A=[[4.0, 1.0, 0.0], [1.0, 4.0, 0.0], [0.0, 0.0, 5.0]]),
        dict(A=[[1.0, 1.0], [0.0, 1.0]]),
        dict(A=[[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]]),
        *[dict(S=[], N=n, dtype="f64", fill="both") for n in (8, 16)],
        dict(A="zeros", S=[], N=3),
        dict(A="ones", S=[2], N=5),
        dict(A=[[-2.0]]),
        dict(S=[3], N=17),
        dict(A=[[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]),
    ],
    sizes={"64": dict(S=[], N=64), "256": dict(S=[], N=256), "512": dict(S=[], N=512)},
)
def eig(A):
    return torch.linalg.eig(A)
