"""Matrix times vector, added to another vector in place, then the dot product of the two vectors.

    y = alpha * (A @ x) + beta * y, in place
    output = sum over i of y[i] * x[i]

`A` is [N, N], `x` and `y` are [N]. `alpha` and `beta` are numbers; beta = 0 removes what `y` held. The result is a
scalar tensor. `y` is updated where it is, whatever its stride. Upstream looks at the result alone, never at `y`.

In float16 all values drawn are positive, so that rounding `y` before the dot product does not matter.
"""

import torch

from pytest_kernelbenchx import fills, task


def values(rng, shape, dtype, kind):
    """For float16 positive, and so small that the result, about scale ** 3 * N ** 2 / 2, is finite."""
    scale = min(1 / 8, (5e4 / shape[0] ** 2) ** (1 / 3))
    return fills.positive()(rng, shape, kind) * scale if dtype is torch.float16 else fills.normal()(rng, shape, kind)


@task(
    inputs={"A": "T[N, N]", "x": "T[N]", "y": "T[N]"},
    output="T[]",
    dtypes=("f32", "f16"),
    fill={"A": values, "x": values, "y": values},
    options={
        "alpha": lambda dtype: [1.0, 0.5, 2.0] if dtype == "f16" else [1.0, 0.5, 2.0, -1.5, 0.0],
        "beta": lambda dtype: [1.0, 0.0, 0.5, 2] if dtype == "f16" else [1.0, 0.0, 0.5, 2, -0.5],
    },
    mutates=("y",),
    examples=[
        dict(A=[[1.0, 2.0], [3.0, 4.0]], x=[1.0, 1.0], y=[0.0, 0.0], alpha=1.0, beta=0.0),
        *[dict(N=n, alpha=alpha, beta=beta, fill="both") for n, alpha, beta in ((64, 1.0, 0.0), (128, 0.5, 0.5))],
        dict(N=129, alpha=1.0, beta=1.0, dtype="f16"),
        dict(N=33, alpha=1.0, beta=1.0, layout={"y": "strided"}),
        dict(A=[[1.0, 2.0], [3.0, 4.0]], x=[2.0, 3.0], y=[1.0, -1.0], alpha=0.5, beta=2.0),
    ],
    sizes={
        **{
            label: dict(N=n, alpha=1.0, beta=1.0, dtype="f16")
            for label, n in (("64", 64), ("2k", 2048), ("16k", 16384))
        },
        "16k_f32": dict(N=16384, alpha=1.0, beta=1.0),
    },
    bytes=lambda N, itemsize: (N * N + 3 * N + 1) * itemsize,
    flops=lambda N: 2 * N * N + 5 * N,
)
def matrix_vector_dot(A, x, y, alpha, beta):
    y.copy_(alpha * torch.mv(A, x) + beta * y)
    return torch.dot(y, x)
