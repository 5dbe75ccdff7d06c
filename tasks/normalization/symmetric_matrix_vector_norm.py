"""Norm of a symmetric matrix times a vector, scaled and added to its own multiple.

    y = alpha * (A @ x)
    output = |y + beta * y|, |.| the p-norm (sum of |y[i]| ** p) ** (1 / p)

`A` is a symmetric matrix [N, N] and `x` a vector [N], both float32; the result is a scalar tensor. `alpha` and `beta`
are numbers. `p` is a number of at least 1, or infinity, which stands for the largest absolute value.
"""

import torch

from pytest_kernelbenchx import fills, task


def symmetric(rng, shape, dtype, kind):
    values = fills.default(rng, shape, dtype, kind)
    return (values + values.mT) / 2


ONE = dict(alpha=1.0, beta=1.0)


@task(
    inputs={"A": "f32[N, N]", "x": "f32[N]"},
    output="f32[]",
    fill={"A": symmetric},
    options={
        "alpha": [1.0, 2.0, -0.5, 0.0],
        "beta": [1.0, 0.5, 0.0, -3.0, -1.0],
        "p": [2.0, 1.0, 3, 1.5, float("inf")],
    },
    examples=[
        *[dict(A=[[2.0, 1.0], [1.0, 2.0]], x=[1.0, 1.0], **ONE, p=p) for p in (2.0, 1.0)],
        dict(A=[[4.0, 1.0, 2.0], [1.0, 3.0, 1.0], [2.0, 1.0, 3.0]], x=[1.0, 2.0, 3.0], alpha=1.5, beta=0.5),
        *[dict(N=128, alpha=1.0, beta=beta, p=p, fill="both") for beta, p in ((0.5, 2.0), (1.0, 1.0))],
        dict(N=257, alpha=-2.0, beta=0.5, p=float("inf")),
    ],
    sizes={"64": dict(N=64, **ONE), "4k": dict(N=4096, **ONE), "16k": dict(N=16384, **ONE)},
)
def symmetric_matrix_vector_norm(A, x, alpha, beta, p=2.0):
    y = alpha * torch.mv(A, x)
    return torch.linalg.vector_norm(y + beta * y, p)
