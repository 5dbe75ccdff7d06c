"""Spectral norm of square matrices: the operator norm that the Euclidean norm of vectors induces.

    |A| = max over x of |A x| / |x| = the largest singular value of A = sqrt(the largest eigenvalue of A^T A)

`A` is [..., N, N] float32, in general not symmetric; the result is [...], one number per matrix. With `out` it is
written there and returned. Nothing is mutated. Upstream's reference takes the largest absolute value of the eigenvalues
of A itself, the spectral radius: that is the spectral norm of a normal matrix alone, a symmetric one for instance, and
less than it for most others.
"""

import torch

from pytest_kernelbenchx import task


@task(
    inputs={"A": "f32[*S, N, N]"},
    output="f32[*S]",
    axes={"S": [[], [], [1], [2], [5], [2, 3]], "N": (1, 2, 3, 5, 8, 13, 16, 17, 31, 32, 33)},
    flops=lambda S, N: {"linalg": 4 * torch.Size(S).numel() * N**3},
    examples=[
        dict(A=[[1.0, 2.0], [3.0, 4.0]]),
        dict(A=[[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]]),
        dict(A=[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]),
        dict(A=[[2.0, 1.0], [1.0, -3.0]]),
        dict(A=[[0.0, 5.0], [0.0, 0.0]]),
        *[
            dict(S=batch, N=n, fill=fill)
            for batch, n in (([16], 32), ([], 32), ([8], 64), ([], 64))
            for fill in ("standard", "outlier")
        ],
        dict(S=[3], N=17, out=True),
        dict(S=[], N=1),
    ],
    sizes={
        "16": dict(S=[], N=16),
        "128": dict(S=[], N=128),
        "512": dict(S=[], N=512),
        "batch": dict(S=[1024], N=32),
    },
)
def spectral_norm_eig(A, *, out=None):
    return torch.linalg.matrix_norm(A, 2)
