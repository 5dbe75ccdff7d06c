"""Best approximation of rank k, by singular value decomposition: A = U diag(S) V^T, then U_k diag(S_k) V_k^T.

`A` is [..., M, N], float32; the first `k` singular values, the largest, and their vectors are kept: U_k [..., M, k],
S_k [..., k], V_k [..., N, k]. `k` is positive, and from min(M, N) on all are kept. The result is [..., M, N].
`full_matrices` chooses the form of the decomposition inside and does not change the result. With `out` the result is
written there and returned. Nothing is mutated.

In the matrices drawn the k-th singular value is at least twice the next, so that the approximation is well-determined.
"""

import torch

from pytest_kernelbenchx import task


def with_gap(rng, shape, kind, k):
    """Singular values of 1 to 2, up to 50 times that for outliers, then of 0 to 0.5 from the k-th on."""
    rank = min(shape[-2:])
    left, _ = torch.linalg.qr(torch.randn((*shape[:-1], rank), generator=rng, dtype=torch.float64))
    right, _ = torch.linalg.qr(torch.randn((*shape[:-2], shape[-1], rank), generator=rng, dtype=torch.float64))
    share = torch.rand((*shape[:-2], 1, rank), generator=rng, dtype=torch.float64)
    large = (1 + share) * 50**share if kind == "outlier" else 1 + share
    return left * torch.where(torch.arange(rank) < k, large, share / 2) @ right.mT


SIDES = (1, 2, 3, 4, 5, 8, 9, 16, 17, 31, 32, 33)


@task(
    inputs={"A": "f32[*S, M, N]"},
    output="f32[*S, M, N]",
    axes={"S": [[], [], [1], [2], [3]], "M": SIDES, "N": SIDES},
    fill={"A": with_gap},
    options={"k": lambda M, N: [*range(1, min(M, N) + 1), min(M, N) + 3], "full_matrices": [True, False]},
    flops=lambda S, M, N, k=1: {
        "linalg": torch.Size(S).numel() * (4 * max(M, N) * min(M, N) ** 2 + 8 * min(M, N) ** 3),
        "tensor": torch.Size(S).numel() * 2 * M * N * min(k, M, N),
    },
    examples=[
        dict(S=[], M=5, N=4, k=2),
        dict(S=[], M=6, N=3, k=2, full_matrices=False),
        dict(S=[2], M=5, N=4, k=3),
        dict(S=[3], M=6, N=3, k=2, full_matrices=False),
        *[
            dict(S=batch, M=32, N=16, k=8, full_matrices=full, fill=fill)
            for batch, full in (([], True), ([], False), ([4], False))
            for fill in ("standard", "outlier")
        ],
        dict(A=[[3.0, 1.0], [1.0, -5.0], [2.0, 0.0]], k=1),
        dict(S=[], M=37, N=33, k=35, out=True),
        dict(A=[[-2.0]], k=1),
    ],
    sizes={
        "64": dict(S=[], M=64, N=64, k=8),
        "256": dict(S=[], M=256, N=256, k=50),
        "512": dict(S=[], M=512, N=512, k=50),
        "16kx32": dict(S=[16384], M=32, N=32, k=8),
    },
)
def low_rank_svd_approximation(A, k, *, full_matrices=True, out=None):
    U, S, Vh = torch.linalg.svd(A, full_matrices=full_matrices)
    rank = min(k, S.shape[-1])
    return (U[..., :rank] * S[..., None, :rank]) @ Vh[..., :rank, :]
