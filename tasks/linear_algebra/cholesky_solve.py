"""Solution of A X = B, given the Cholesky factor of A: A = L L^T, or A = L^T L if `upper`.

`B` is [..., N, K] and `L` [..., N, N] with the same leading dimensions, both float32 or both float64. `L` is lower
triangular, upper triangular if `upper`; its other half is zero. The result is [..., N, K]. The factors drawn here
belong to matrices with condition numbers up to 10 ** 4.
"""

import torch

from pytest_kernelbenchx import fills, matrices, task


def factor(rng, shape, kind, upper):
    return torch.linalg.cholesky(fills.positive_definite(rng, shape, kind), upper=upper)


@task(
    inputs={"B": "T[*S, N, K]", "L": "T[*S, N, N]"},
    output="T[*S, N, K]",
    dtypes=("f32", "f64"),
    axes={"S": matrices.BATCHES, "N": matrices.LONG_SIDES, "K": (1, 2, 3, 8, 16, 17, 33)},
    fill={"L": factor},
    flops=lambda S, N, K: {"linalg": 2 * torch.Size(S).numel() * N * N * K},
    examples=[
        dict(B=[[1.0], [2.0]], L=[[2.0, 0.0], [1.0, 1.0]]),
        *[dict(S=[4], N=16, K=8, upper=upper, dtype="f64", fill="both") for upper in (False, True)],
        dict(S=[], N=65, K=3, out=True),
        dict(B=[[[1.0], [2.0]], [[3.0], [4.0]]], L=[[[2.0, 1.0], [0.0, 1.0]], [[3.0, 1.0], [0.0, 2.0]]], upper=True),
    ],
    sizes={**{str(n): dict(S=[], N=n, K=10) for n in (64, 1024, 8192)}, "batch": dict(S=[4096], N=64, K=8)},
)
def cholesky_solve(B, L, upper=False, out=None):
    return torch.cholesky_solve(B, L, upper)
