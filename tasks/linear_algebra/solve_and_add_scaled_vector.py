"""Solution of a triangular system, plus a multiple of a vector: X + alpha * y, where A X = b.

`A` is [N, N] upper triangular: what is below its diagonal is not zero here, but does not count. `b` is [N, K]; `y` is
[N, K], or [N, 1] and added to every column; all are float32 or all float64. `alpha` is a number. The result is [N, K].
"""

import torch

from pytest_kernelbenchx import fills, matrices, task


def triangular(rng, shape, kind):
    """A diagonal of 1 to 3 with either sign, values above it that are small in sum, and normal ones below it."""
    values = fills.normal()(rng, shape, kind)
    diagonal = 1 + 2 * torch.rand(shape[0], generator=rng, dtype=torch.float64)
    signs = torch.where(torch.rand(shape[0], generator=rng) < 0.5, -1.0, 1.0)
    return values.tril(-1) + values.triu(1) / shape[0] ** 0.5 + torch.diag(signs * diagonal)


@task(
    inputs={"A": "T[N, N]", "b": "T[N, K]", "y": "T[N, Y]"},
    output="T[N, K]",
    dtypes=("f32", "f64"),
    axes={"N": (*matrices.LONG_SIDES, 127, 128, 129), "K": (1, 2, 3, 8, 16, 17, 33), "Y": lambda K: (1, K)},
    fill={"A": triangular},
    options={"alpha": [0.5, 0.1, 1.0, -2.0, 0, 3]},
    flops=lambda N, K: {"linalg": N * N * K, "vector": 2 * N * K},
    examples=[
        dict(N=17, K=1, Y=1, alpha=0),
        *[dict(N=n, K=4, Y=1, alpha=0.1, dtype="f64", fill="both") for n in (8, 16)],
        dict(N=129, K=3, Y=3, alpha=-2.0),
        dict(A=[[2.0, 1.0], [0.0, 3.0]], b=[[5.0, 6.0], [7.0, 8.0]], y=[[1.0], [2.0]], alpha=0.5),
    ],
    sizes={label: dict(N=n, K=1, Y=1, alpha=1.0) for label, n in (("64", 64), ("1k", 1024), ("8k", 8192))},
    bytes=lambda N, K, Y, itemsize: itemsize * (N * (N + 1) // 2 + 2 * N * K + N * Y),
)
def solve_and_add_scaled_vector(A, b, y, alpha):
    return torch.linalg.solve_triangular(A, b, upper=True) + alpha * y
