"""Best approximation of rank k, by singular value decomposition: A = U diag(S) V^T, then U_k diag(S_k) V_k^T.

`A` is [..., M, N], float32; the first `k` singular values, the largest, and their vectors are kept: U_k [..., M, k],
S_k [..., k], V_k [..., N, k]. `k` is positive, and from min(M, N) on all are kept. The result is [..., M, N].
`full_matrices` chooses the form of the decomposition inside and does not change the result.

In the matrices drawn the k-th singular value is at least twice the next, so that the approximation is well-determined.
"""

import torch

from pytest_kernelbenchx import matrices, task


def with_gap(rng, shape, kind, k):
    """Singular values of 1 to 2, up to 50 times that for outliers, then of 0 to 0.5 from the k-th on."""
    share = torch.rand((*shape[:-2], min(shape[-2:])), generator=rng, dtype=torch.float64)
    large = (1 + share) * 50**share if kind == "outlier" else 1 + share
    return matrices.with_spectrum(rng, shape, torch.where(torch.arange(share.shape[-1]) < k, large, share / 2))


@task(
    inputs={"A": "f32[*S, M, N]"},
    output="f32[*S, M, N]",
    axes={"S": matrices.BATCHES, "M": matrices.SIDES, "N": matrices.SIDES},
    fill={"A": with_gap},
    options={"k": lambda M, N: [*range(1, min(M, N) + 1), min(M, N) + 3]},
    tolerance={"f32": (1e-5, 1e-4)},  # backward errors: 2e-5 is what a GPU's Jacobi method leaves of 32 x 32
    flops=lambda S, M, N, k=1: {
        "linalg": torch.Size(S).numel() * (4 * max(M, N) * min(M, N) ** 2 + 8 * min(M, N) ** 3),
        "tensor": torch.Size(S).numel() * 2 * M * N * min(k, M, N),
    },
    examples=[
        dict(S=[], M=5, N=4, k=2),
        *[dict(S=[4], M=32, N=16, k=8, full_matrices=full, fill="both") for full in (False, True)],
        dict(A=[[3.0, 1.0], [1.0, -5.0], [2.0, 0.0]], k=1),
        dict(S=[], M=37, N=33, k=35, out=True),
        dict(A=[[-2.0]], k=1),
        dict(S=[3], M=6, N=3, k=2, full_matrices=False),
    ],
    sizes={
        **{str(n): dict(S=[], M=n, N=n, k=k) for n, k in ((64, 8), (256, 50), (512, 50))},
        "16kx32": dict(S=[16384], M=32, N=32, k=8),
    },
)
def low_rank_svd_approximation(A, k, *, full_matrices=True, out=None):
    U, S, Vh = torch.linalg.svd(A, full_matrices=full_matrices)
    rank = min(k, S.shape[-1])
    return (U[..., :rank] * S[..., None, :rank]) @ Vh[..., :rank, :]
