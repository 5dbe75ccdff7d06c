"""Solution of A X = B, given the Cholesky factor of A: A = L L^T, or A = L^T L if `upper`.

`B` is [..., N, K] and `L` [..., N, N] with the same leading dimensions, both float32 or both float64. `L` is lower
triangular, upper triangular if `upper`; its other half is zero. The result is [..., N, K]; with `out` it is written
there and returned. Nothing is mutated. The factors drawn here belong to matrices with condition numbers up to 10 ** 4.
"""

import torch

from pytest_kernelbenchx import fills, task


def factor(rng, shape, kind, upper):
    """Cholesky factors of positive definite matrices."""
    lower = torch.linalg.cholesky(fills.positive_definite(rng, shape, kind))
    return lower.mT if upper else lower


@task(
    inputs={"B": "T[*S, N, K]", "L": "T[*S, N, N]"},
    output="T[*S, N, K]",
    dtypes=("f32", "f64"),
    axes={
        "S": [[], [], [1], [2], [3], [2, 2]],
        "N": (1, 2, 3, 5, 8, 13, 16, 17, 31, 32, 33, 64, 65),
        "K": (1, 2, 3, 8, 16, 17, 33),
    },
    fill={"L": factor},
    options={"upper": [False, True]},
    flops=lambda S, N, K: {"linalg": 2 * torch.Size(S).numel() * N * N * K},
    examples=[
        dict(B=[[1.0], [2.0]], L=[[2.0, 0.0], [1.0, 1.0]]),
        dict(B=[[1.0], [2.0]], L=[[2.0, 1.0], [0.0, 1.0]], upper=True),
        *[
            dict(B=[[[1.0], [2.0]], [[3.0], [4.0]]], L=factors, upper=upper)
            for factors, upper in (
                ([[[2.0, 0.0], [1.0, 1.0]], [[3.0, 0.0], [1.0, 2.0]]], False),
                ([[[2.0, 1.0], [0.0, 1.0]], [[3.0, 1.0], [0.0, 2.0]]], True),
            )
        ],
        *[
            dict(S=[batch], N=n, K=k, dtype="f64", upper=upper, fill=fill)
            for batch, n, k in ((1, 16, 8), (4, 8, 4))
            for upper, fill in ((False, "standard"), (True, "standard"), (False, "outlier"), (True, "outlier"))
        ],
        dict(S=[], N=65, K=3, out=True),
        dict(S=[], N=1, K=1),
    ],
    sizes={
        "64": dict(S=[], N=64, K=10),
        "1k": dict(S=[], N=1024, K=10),
        "8k": dict(S=[], N=8192, K=10),
        "batch": dict(S=[4096], N=64, K=8),
    },
)
def cholesky_solve(B, L, upper=False, out=None):
    return torch.cholesky_solve(B, L, upper)
