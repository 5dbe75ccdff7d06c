"""Product of two matrices, added to a third: beta * input + alpha * (mat1 @ mat2).

`mat1` is [M, K], `mat2` [K, N], and `input` broadcasts to [M, N], the shape of the result. `beta` and `alpha` are
numbers; beta = 0 means that `input` is not looked at, NaN and infinities in it do not count. Upstream never passes
`out`.
"""

import torch

from pytest_kernelbenchx import task


@task(
    inputs={"input": "T[*R]", "mat1": "T[M, K]", "mat2": "T[K, N]"},
    output="T[M, N]",
    dtypes=("f32", "f16", "bf16"),
    axes={"R": lambda M, N: [[M, N], [M, N], [N], [M, 1], [1, N], [1], []]},
    options={"beta": (1, 0.5, -2.0, 0.0), "alpha": (1, 2.0, -0.5, 3, 0.0)},
    examples=[
        dict(input=[[1.0, 2.0], [3.0, 4.0]], mat1=[[1.0, 0.0], [0.0, 1.0]], mat2=[[5.0, 6.0], [7.0, 8.0]]),
        *[dict(R=[64, 32], M=64, K=128, N=32, **scales, fill="both") for scales in ({}, dict(beta=0.5, alpha=2.0))],
        dict(R=[65], M=129, K=1025, N=65, out=True),
        dict(R=[33, 1], M=33, K=0, N=4, beta=-1.0),
        dict(input=[[float("nan"), float("inf"), 1.0]], M=5, K=17, N=3, beta=0.0),
    ],
    sizes={
        **{str(n): dict(R=[n, n], M=n, K=n, N=n, dtype="f16") for n in (256, 1024, 4096)},
        "2k_f32": dict(R=[2048, 2048], M=2048, K=2048, N=2048),
    },
    flops=lambda M, K, N: {"tensor": 2 * M * K * N},
)
def addmm(input, mat1, mat2, beta=1, alpha=1, out=None):
    return torch.addmm(input, mat1, mat2, beta=beta, alpha=alpha)
