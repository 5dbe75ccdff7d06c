"""QR factorisation of a matrix or a batch of them: A = Q R, with orthonormal columns of Q and R upper triangular.

`A` is [..., M, N], float32 or float64; with K = min(M, N) the result is the tuple `(Q, R)`, all in A's type. With
`mode="reduced"` Q is [..., M, K] and R [..., K, N]; with "complete" Q is [..., M, M] and R [..., M, N]; with "r" there
is only R [..., K, N], and Q is empty, of shape [0]. What is below R's diagonal is exactly 0. `out` is a tuple of two
tensors, for Q and R.

The factors are unique up to the signs of R's diagonal at most; with rank-deficient matrices, of which some are drawn,
Q's columns are orthonormal all the same. Any valid choice is right: the product, the orthogonality and the form are
judged. Upstream compares the factors themselves, and so rejects valid ones.
"""

import torch

from pytest_kernelbenchx import fills, matrices, task
from pytest_kernelbenchx.judge.factorisations import qr_properties

SIDES = (*matrices.SIDES, 65)


def some_near(rng, shape, kind):
    """Normal values; in one matrix of three the columns from the middle on repeat the first, all but 1e-6 of them."""
    values = fills.normal()(rng, shape, kind)
    half = shape[-1] // 2
    if half and not int(torch.randint(3, (), generator=rng)):
        values[..., -half:] = values[..., :half] + 1e-6 * values[..., -half:]
    return values


@task(
    inputs={"A": "T[*S, M, N]"},
    output=["T[...]", "T[...]"],
    dtypes=("f32", "f64"),
    axes={"S": matrices.BATCHES, "M": SIDES, "N": SIDES},
    fill={"A": some_near},
    options={"mode": ["reduced", "complete", "r"]},
    properties=qr_properties,
    flops=lambda S, M, N: {"linalg": torch.Size(S).numel() * 4 * max(M, N) * min(M, N) ** 2},
    examples=[
        dict(A=[[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]]),
        dict(A=[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], mode="r"),
        *[dict(S=[], M=64, N=32, mode=mode, dtype="f64", fill="both") for mode in ("reduced", "complete")],
        dict(S=[], M=32, N=64, mode="r", dtype="f64", fill="both"),
        dict(A="zeros", S=[], M=3, N=2),
        dict(A="ones", S=[2], M=5, N=3, mode="complete"),
        dict(A=[[-2.0]]),
        dict(S=[3], M=65, N=9, out=True),
        dict(A=[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], mode="complete"),
    ],
    sizes={"16": dict(S=[], M=16, N=16), "256": dict(S=[], M=256, N=256), "2k": dict(S=[], M=2048, N=2048)},
)
def qr(A, mode="reduced", out=None):
    return torch.linalg.qr(A, mode=mode)
