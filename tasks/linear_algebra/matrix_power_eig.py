"""Real power of symmetric matrices, by their eigenvalues: A = V diag(w) V^T, then the result is V diag(w ** k) V^T.

`A` is [..., N, N], symmetric, float32 or float64; `k` is a number, whole or not, negative ones included (-1 gives the
inverse). The result is [..., N, N]. Where k is not whole, the matrices drawn are positive definite; the others have
negative eigenvalues, too, and w ** k has the sign that a product of k factors has. Only one triangle of `A` need be
read. Upstream's reference is wrong for batches: it takes a diagonal of the eigenvalues in place of diagonal matrices of
them.
"""

import torch

from pytest_kernelbenchx import matrices, task


def with_power(rng, shape, dtype, kind, k):
    """Indefinite where that is possible; without outliers where they would be inverted.

    Eigenvalues have errors relative to the largest one, which may exceed the small elements of a saddle point's matrix
    with outliers: cases with these are definite.
    """
    kind = "standard" if k < 0 else kind
    if k != int(k) or kind == "outlier":
        return matrices.definite(rng, shape, dtype, kind)
    return matrices.indefinite(rng, shape, dtype, kind, hermitian=False)


@task(
    inputs={"A": "T[*S, N, N]"},
    output="T[*S, N, N]",
    dtypes=("f32", "f64"),
    axes={"S": matrices.BATCHES, "N": matrices.SIDES},
    fill={"A": with_power},
    options={"k": [2, 3, 0.5, -1, 1.5, -0.5, 2.0, 1]},
    tolerance={"f32": (1e-5, 1e-4)},  # backward errors: 2e-5 is what a GPU's Jacobi method leaves of 32 x 32
    flops=lambda S, N: {"linalg": torch.Size(S).numel() * 9 * N**3, "tensor": torch.Size(S).numel() * 2 * N**3},
    examples=[
        dict(A=[[[1.0, 2.0], [2.0, 4.5]], [[5.0, 6.0], [6.0, 8.0]]], k=3),
        *[dict(S=[], N=16, k=k, dtype="f64", fill="both") for k in (0.5, 2.0)],
        dict(S=[3], N=33, k=-1, out=True),
        dict(A=[[-2.0]], k=2),
        dict(A=[[1.0, 2.0], [2.0, 1.0]], k=3.0),
    ],
    sizes={"64": dict(S=[], N=64, k=2), "256": dict(S=[], N=256, k=2), "1k": dict(S=[], N=1024, k=2)},
)
def matrix_power_eig(A, k, *, out=None):
    w, V = torch.linalg.eigh(A)
    return (V * w.unsqueeze(-2) ** k) @ V.mT
