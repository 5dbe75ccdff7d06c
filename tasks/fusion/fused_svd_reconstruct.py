"""Thin singular value decomposition of a matrix, put together again: A = U diag(S) V^T, and U diag(S) V^T is returned.

`A` is [M, N] float32, of any rank; with K = min(M, N), U is [M, K], S [K] and V [N, K]. The result is [M, N]. Up to
rounding errors the result is A, so only its values can be judged: they do not tell a kernel that decomposes and
multiplies from one that copies.
"""

import torch

from pytest_kernelbenchx import matrices, task


@task(
    inputs={"A": "f32[M, N]"},
    output="f32[M, N]",
    axes=dict.fromkeys("MN", matrices.SIDES),
    fill={"A": matrices.some_deficient},
    tolerance={"f32": (1e-5, 1e-4)},  # backward errors: 2e-5 is what a GPU's Jacobi method leaves of 32 x 32
    flops=lambda M, N: {"linalg": 4 * max(M, N) * min(M, N) ** 2 + 8 * min(M, N) ** 3, "tensor": 2 * M * N * min(M, N)},
    examples=[
        dict(A=[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]),
        dict(A=[[42.0]]),
        *[dict(M=m, N=n, fill="both") for m, n in ((16, 16), (32, 16), (16, 32))],
        dict(A="zeros", M=3, N=2),
        dict(A="ones", M=5, N=8),
        dict(M=65, N=17),
        dict(M=5, N=70),
        dict(A=[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]),
    ],
    sizes={"64": dict(M=64, N=64), "256": dict(M=256, N=256), "1k": dict(M=1024, N=1024)},
)
def fused_svd_reconstruct(A):
    U, S, Vh = torch.linalg.svd(A, full_matrices=False)
    return (U * S) @ Vh
