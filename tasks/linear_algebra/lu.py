"""LU factorisation of a matrix or a batch of them, with partial pivoting (A = P L U) or without (A = L U).

`A` is [..., M, N], float32 or float64; with K = min(M, N) the result is the tuple `(P, L, U)`, all in A's type: P
[..., M, M] a permutation matrix; L [..., M, K] lower triangular with ones on its diagonal, the other half exactly 0;
U [..., K, N] upper triangular, what is below its diagonal exactly 0. With `pivot` each column's largest element in
magnitude becomes its pivot, so that no element of L exceeds 1 in magnitude; a singular `A` has a factorisation, too.
With `pivot=False` rows stay where they are, P is empty, of shape [0], and the matrices drawn need no exchange. `out` is
a tuple of three tensors, for P, L and U. Judged are the form of the factors and their product.
"""

import torch

from pytest_kernelbenchx import fills, matrices, task
from pytest_kernelbenchx.judge.factorisations import lu_properties

SIDES = (*matrices.SIDES, 65)


def factorable(rng, shape, kind, pivot):
    """Some of low rank; a diagonal that exceeds its column where rows must stay."""
    if pivot:
        return matrices.some_deficient(rng, shape, kind)
    values = fills.normal()(rng, shape, kind)
    values.diagonal(dim1=-2, dim2=-1).add_(values.abs().sum(-2)[..., : min(shape[-2:])] + 1)
    return values


@task(
    inputs={"A": "T[*S, M, N]"},
    output=["T[...]", "T[...]", "T[...]"],
    dtypes=("f32", "f64"),
    axes={"S": matrices.BATCHES, "M": SIDES, "N": SIDES},
    fill={"A": factorable},
    properties=lu_properties,
    flops=lambda S, M, N: {"linalg": torch.Size(S).numel() * min(M, N) ** 2 * (3 * max(M, N) - min(M, N)) // 3},
    examples=[
        dict(S=[], M=3, N=3, seed=1),
        dict(S=[4], M=16, N=16, dtype="f64", fill="both"),
        dict(S=[], M=8, N=12, pivot=False, dtype="f64", fill="both"),
        dict(A=[[0.0, 2.0, 0.0], [0.0, 0.0, 4.0], [8.0, 0.0, 0.0]]),
        dict(A=[[0.0, 0.0], [0.0, 3.0]]),
        dict(A="zeros", S=[], M=3, N=2),
        dict(A="ones", S=[2], M=5, N=8),
        dict(S=[], M=65, N=9, pivot=False),
        dict(S=[3], M=9, N=65, out=True),
        dict(A=[[-2.0]]),
        dict(S=[4], M=2, N=3),
    ],
    sizes={"256": dict(S=[], M=256, N=256), "1k": dict(S=[], M=1024, N=1024), "2k": dict(S=[], M=2048, N=2048)},
)
def lu(A, pivot=True, out=None):
    P, L, U = torch.linalg.lu(A)  # which exchanges no rows where it must not
    return (P if pivot else A.new_empty(0)), L, U
