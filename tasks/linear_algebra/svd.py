"""Singular value decomposition of a matrix or a batch of them: A = U @ diag(S) @ Vh.

`A` is float32 [..., M, N]; with K = min(M, N) the result is the tuple `(U, S, Vh)`, all float32:
S [..., K], in descending order and not negative; U [..., M, M] and Vh [..., N, N] orthogonal if `full_matrices`, else
U [..., M, K] with orthonormal columns and Vh [..., K, N] with orthonormal rows.

Singular vectors are unique only up to sign, and up to a rotation where singular values are equal or where
`full_matrices` completes a basis: any valid choice is right. The values, the reconstruction of `A` and the
orthogonality are judged. Upstream compares the vectors themselves, and so rejects valid results.
"""

import torch

from pytest_kernelbenchx import matrices, svd_properties, task


@task(
    inputs={"A": "f32[*B, M, N]"},
    output=["f32[...]", "f32[...]", "f32[...]"],
    axes={"B": matrices.BATCHES, "M": matrices.SIDES, "N": matrices.SIDES},
    fill={"A": matrices.some_deficient},
    properties=svd_properties,
    bytes=lambda B, M, N, itemsize: itemsize * torch.Size(B).numel() * (M * N + M * M + min(M, N) + N * N),
    flops=lambda B, M, N: {"linalg": torch.Size(B).numel() * 4 * min(M, N) ** 2 * (3 * max(M, N) - min(M, N)) // 3},
    examples=[
        dict(A=[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], full_matrices=False),
        dict(A=[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]], full_matrices=False),
        dict(A=[[-2.0]]),
        dict(A="zeros", B=[], M=3, N=2),
        dict(A="ones", B=[2], M=5, N=8),
        dict(B=[], M=64, N=32),
        dict(B=[4], M=64, N=32, full_matrices=False, fill="outlier"),
        dict(A=[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]),
    ],
    sizes={"32": dict(B=[], M=32, N=32), "256": dict(B=[], M=256, N=256), "16kx32": dict(B=[16384], M=32, N=32)},
)
def svd(A, full_matrices=True):
    return torch.linalg.svd(A, full_matrices=full_matrices)
