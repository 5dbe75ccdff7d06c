"""Product of two matrices, added to a third: beta * input + alpha * (mat1 @ mat2).

`mat1` is [M, K], `mat2` [K, N], and `input` broadcasts to [M, N]; they and the result, a new [M, N], have the same
floating-point type. `beta` and `alpha` are numbers; beta = 0 means that `input` is not looked at, NaN and infinities in
it do not count. With `out`, which upstream never passes, the result is written there and returned. Nothing else is
mutated. Sums are taken in float32: for float32 in full precision, so that TF32 is wrong, for 16-bit types with one
rounding at the end.
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
        *[
            dict(input=[[1.0, 2.0], [3.0, 4.0]], mat1=[[1.0, 0.0], [0.0, 1.0]], mat2=[[5.0, 6.0], [7.0, 8.0]], **scaled)
            for scaled in (dict(), dict(beta=0.5, alpha=2.0), dict(beta=0.0))
        ],
        dict(input=[[float("nan"), float("inf"), 1.0]], M=5, K=17, N=3, beta=0.0),
        *[
            dict(R=[64, 32], M=64, K=128, N=32, **scaled, fill=fill)
            for scaled in (dict(), dict(beta=0.5, alpha=2.0))
            for fill in ("standard", "outlier")
        ],
        dict(R=[65], M=129, K=1025, N=65, out=True),
        dict(R=[33, 1], M=33, K=0, N=4, beta=-1.0),
    ],
    sizes={
        "256": dict(R=[256, 256], M=256, K=256, N=256, dtype="f16"),
        "1k": dict(R=[1024, 1024], M=1024, K=1024, N=1024, dtype="f16"),
        "4k": dict(R=[4096, 4096], M=4096, K=4096, N=4096, dtype="f16"),
        "2k_f32": dict(R=[2048, 2048], M=2048, K=2048, N=2048, dtype="f32"),
    },
    flops=lambda M, K, N: {"tensor": 2 * M * K * N},
)
def addmm(input, mat1, mat2, beta=1, alpha=1, out=None):
    return torch.addmm(input, mat1, mat2, beta=beta, alpha=alpha)
