"""Moore-Penrose inverse by singular value decomposition, small singular values left out.

    A = U diag(S) V^T, then the result is V diag(S[i] > rcond * max(S) ? 1 / S[i] : 0) U^T

`A` is [M, N], float32 or float64; the result is [N, M]. `full_matrices` chooses the form of the decomposition inside
and does not change the result (upstream's reference fails if it is set and M is not N). No singular value drawn here
lies near `rcond * max(S)`: those to keep are at least 3 times larger, those to leave out 3 times smaller, and where
`rcond` is below the type's own precision there are none of these; upstream inverts the rounding errors of singular
matrices.
"""

import torch

from pytest_kernelbenchx import matrices, task


def decided(rng, shape, kind, rcond):
    """Singular values of 0.1 (0.01 in outlier cases) to 1; if `rcond` allows, about a third are far below it."""
    least = max(0.01 if kind == "outlier" else 0.1, 3 * rcond)
    values = least + (1 - least) * torch.rand(min(shape), generator=rng, dtype=torch.float64)
    small = torch.rand(min(shape), generator=rng) < (0.33 if rcond > 1e-5 else 0)
    values = torch.where(small, values * rcond / 3, values)
    values[0] = 1.0
    return matrices.with_spectrum(rng, shape, values)


@task(
    inputs={"A": "T[M, N]"},
    output="T[N, M]",
    dtypes=("f32", "f64"),
    axes=dict.fromkeys("MN", matrices.LONG_SIDES),
    fill={"A": decided},
    options={"rcond": [1e-15, 1e-3, 0.1, 0.25]},
    flops=lambda M, N: {"linalg": 4 * max(M, N) * min(M, N) ** 2 + 8 * min(M, N) ** 3},
    examples=[
        dict(A=[[1.0, 2.0], [2.0, 4.0]], rcond=1e-3),
        *[dict(M=16, N=16, dtype="f64", rcond=rcond) for rcond in (1e-15, 0.1)],
        dict(M=32, N=16, full_matrices=False, dtype=("f32", "f64"), rcond=1e-3),
        dict(M=16, N=33, full_matrices=True),
        dict(M=65, N=17, out=True),
        dict(A=[[1.0, 2.0], [3.0, 4.0]]),
    ],
    sizes={"16": dict(M=16, N=16), "128": dict(M=128, N=128), "512": dict(M=512, N=512)},
)
def pseudoinverse_svd(A, full_matrices=True, rcond=1e-15, out=None):
    return torch.linalg.pinv(A, atol=0.0, rtol=rcond)
