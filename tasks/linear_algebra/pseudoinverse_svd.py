"""Moore-Penrose inverse by singular value decomposition, small singular values left out.

    A = U diag(S) V^T, then the result is V diag(S[i] > rcond * max(S) ? 1 / S[i] : 0) U^T

`A` is [M, N], float32 or float64; the result is [N, M]. `full_matrices` chooses the form of the decomposition inside
and does not change the result (upstream's reference fails if it is set and M is not N). With `out` the result is
written there and returned. Nothing is mutated. No singular value drawn here lies near `rcond * max(S)`: those to keep
are at least 3 times larger, those to leave out 3 times smaller, and where `rcond` is below the type's own precision
there are none of these; upstream inverts the rounding errors of singular matrices.
"""

import torch

from pytest_kernelbenchx import task


def decided(rng, shape, kind, rcond):
    """Matrices with singular values of 0.1 (0.01 in outlier cases) to 1; if `rcond` allows, about a third of them are
    far below it."""
    rank = min(shape)
    left, _ = torch.linalg.qr(torch.randn(shape[0], rank, generator=rng, dtype=torch.float64))
    right, _ = torch.linalg.qr(torch.randn(shape[1], rank, generator=rng, dtype=torch.float64))
    least = max(0.01 if kind == "outlier" else 0.1, 3 * rcond)
    values = least + (1 - least) * torch.rand(rank, generator=rng, dtype=torch.float64)
    small = torch.rand(rank, generator=rng) < (0.33 if rcond > 1e-5 else 0)
    values = torch.where(small, values * rcond / 3, values)
    values[0] = 1.0
    return left * values @ right.mT


@task(
    inputs={"A": "T[M, N]"},
    output="T[N, M]",
    dtypes=("f32", "f64"),
    axes=dict.fromkeys("MN", (1, 2, 3, 5, 8, 13, 16, 17, 31, 32, 33, 64, 65)),
    fill={"A": decided},
    options={"full_matrices": [True, False], "rcond": [1e-15, 1e-3, 0.1, 0.25]},
    flops=lambda M, N: {"linalg": 4 * max(M, N) * min(M, N) ** 2 + 8 * min(M, N) ** 3},
    examples=[
        dict(A=[[1.0, 2.0], [3.0, 4.0]]),
        dict(A=[[1.0, 2.0], [2.0, 4.0]], rcond=1e-3),
        *[dict(M=16, N=16, dtype="f64", rcond=rcond) for rcond in (1e-15, 0.1)],
        *[dict(M=32, N=16, full_matrices=False, dtype=dtype, rcond=1e-3) for dtype in ("f32", "f64")],
        dict(M=16, N=33, full_matrices=True),
        dict(M=65, N=17, out=True),
        dict(M=1, N=1),
    ],
    sizes={"16": dict(M=16, N=16), "128": dict(M=128, N=128), "512": dict(M=512, N=512)},
)
def pseudoinverse_svd(A, full_matrices=True, rcond=1e-15, out=None):
    return torch.linalg.pinv(A, atol=0.0, rtol=rcond)
