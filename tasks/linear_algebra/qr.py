"""QR factorisation of a matrix or a batch of them: A = Q R, with orthonormal columns of Q and R upper triangular.

`A` is [..., M, N], float32 or float64; with K = min(M, N) the result is the tuple `(Q, R)`, all in A's type. With
`mode="reduced"` Q is [..., M, K] and R [..., K, N]; with "complete" Q is [..., M, M] and R [..., M, N]; with "r" there
is only R [..., K, N], and Q is empty, of shape [0]. What is below R's diagonal is exactly 0. `out` is a tuple of two
tensors, which get Q and R and are returned. `A` stays as it is.

The factors are unique up to the signs of R's diagonal at most; with rank-deficient matrices, of which some are drawn,
Q's columns are orthonormal all the same. Any valid choice is right: the product, the orthogonality and the form are
judged. Upstream compares the factors themselves, and so rejects valid ones.
"""

import torch

from pytest_kernelbenchx import fills, task
from pytest_kernelbenchx.judge.factorisations import qr_properties

SIDES = (1, 2, 3, 4, 5, 8, 9, 16, 17, 31, 32, 33, 65)


def some_deficient(rng, shape, kind):
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
    axes={"S": [[], [], [1], [2], [2, 2]], "M": SIDES, "N": SIDES},
    fill={"A": some_deficient},
    options={"mode": ["reduced", "complete", "r"]},
    properties=qr_properties,
    flops=lambda S, M, N: {"linalg": torch.Size(S).numel() * 4 * max(M, N) * min(M, N) ** 2},
    examples=[
        dict(A=[[1.0, 2.0], [3.0, 4.0]]),
        dict(A=[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], mode="complete"),
        dict(A=[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], mode="r"),
        dict(A=[[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]]),
        *[
            dict(S=[], M=m, N=n, mode=mode, dtype="f64", fill=fill)
            for m, n, mode in ((64, 32, "reduced"), (64, 32, "complete"), (32, 64, "r"))
            for fill in ("standard", "outlier")
        ],
        dict(A="zeros", S=[], M=3, N=2),
        dict(A="ones", S=[2], M=5, N=3, mode="complete"),
        dict(A=[[-2.0]]),
        dict(S=[3], M=65, N=9, out=True),
    ],
    sizes={"16": dict(S=[], M=16, N=16), "256": dict(S=[], M=256, N=256), "2k": dict(S=[], M=2048, N=2048)},
)
def qr(A, mode="reduced", out=None):
    return torch.linalg.qr(A, mode=mode)
