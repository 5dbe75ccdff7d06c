"""Spectral norm of square matrices: the operator norm that the Euclidean norm of vectors induces.

    |A| = max over x of |A x| / |x| = the largest singular value of A = sqrt(the largest eigenvalue of A^T A)

`A` is [..., N, N] float32, in general not symmetric; the result is [...], one number per matrix. Upstream's reference
takes the largest absolute value of the eigenvalues of A itself, the spectral radius: that is the spectral norm of a
normal matrix alone, a symmetric one for instance, and less than it for most others.
"""

import torch

from pytest_kernelbenchx import task


@task(
    inputs={"A": "f32[*S, N, N]"},
    output="f32[*S]",
    axes={"S": [[], [], [1], [2], [5], [2, 3]], "N": (1, 2, 3, 5, 8, 13, 16, 17, 31, 32, 33)},
    flops=lambda S, N: {"linalg": 4 * torch.Size(S).numel() * N**3},
    examples=[
        dict(A=[[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]]),
        dict(A=[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]),
        *[dict(A=A) for A in ([[2.0, 1.0], [1.0, -3.0]], [[0.0, 5.0], [0.0, 0.0]])],
        *[dict(S=S, N=N, fill="both", out=True) for S, N in (([16], 32), ([8], 64), ([], 64), ([2], 97))],
    ],
    sizes={"16": dict(S=[], N=16), "512": dict(S=[], N=512), "batch": dict(S=[1024], N=32)},
)
def spectral_norm_eig(A, *, out=None):
    return torch.linalg.matrix_norm(A, 2)
