"""Product of two matrices plus a third, then the dot product of the first two rows of that.

    R = alpha * (A @ B) + beta * C
    output = sum over j of R[0, j] * R[1, j]

`A` is [N, K], `B` [K, P] and `C` [N, P]; `alpha` and `beta` are numbers. The result is a scalar tensor. The other rows
of R play no part, and need not be computed; with less than two rows, there is an IndexError. Upstream times float16 at
sizes where the result is infinite.

`A` and `B` are scaled by K ** -1/4 here, so that float16 holds the result, and in float16 all values are positive, so
that rounding R to float16 does not matter.
"""

import torch

from pytest_kernelbenchx import fills, task


def values(rng, shape, dtype, kind):
    return (fills.positive() if dtype is torch.float16 else fills.normal())(rng, shape, kind)


def scaled(rng, shape, dtype, kind, K):
    return values(rng, shape, dtype, kind) / K ** (0.5 if dtype is torch.float16 else 0.25)


@task(
    inputs={"A": "T[N, K]", "B": "T[K, P]", "C": "T[N, P]"},
    output="T[]",
    dtypes=("f32", "f16"),
    axes={"N": (2, 2, 3, 5, 16, 17, 33, 65)},
    fill={"A": scaled, "B": scaled, "C": values},
    options={
        "alpha": lambda dtype: (1.0, 0.5, 2) if dtype == "f16" else (1.0, 0.5, 2, -1.5, 0.0),
        "beta": lambda dtype: (1.0, 0.5, 0.0) if dtype == "f16" else (1.0, 0.5, 0.0, 2, -0.5),
    },
    examples=[
        dict(N=64, K=128, P=64, alpha=1.0, beta=0.5, fill="both"),
        dict(N=2, K=257, P=1025, alpha=0.5, beta=1.0, dtype="f16"),
        dict(N=3, K=1025, P=129, alpha=-1.0, beta=2.0),
        dict(N=1, K=2, P=2, alpha=1.0, beta=1.0, raises=IndexError),
        dict(A=[[1.0, 2.0], [3.0, 4.0]], B=[[5.0, 6.0], [7.0, 8.0]], C=[[2.0, 2.0], [2.0, 2.0]], alpha=2.0, beta=0.5),
    ],
    sizes={
        "256": dict(N=256, K=256, P=256, alpha=1.0, beta=1.0, dtype="f16"),
        "4k": dict(N=4096, K=4096, P=4096, alpha=1.0, beta=1.0, dtype="f16"),
        "8k_f32": dict(N=8192, K=8192, P=8192, alpha=1.0, beta=1.0),
    },
    bytes=lambda K, P, itemsize: (2 * K + K * P + 2 * P + 1) * itemsize,  # of A and C, two rows
    flops=lambda K, P: {"tensor": 4 * K * P},
)
def matrix_multiply_and_row_dot(A, B, alpha, beta, C):
    rows = alpha * torch.mm(A, B) + beta * C
    return torch.dot(rows[0], rows[1])
