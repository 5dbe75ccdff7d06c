"""Batched matrix product, dropout, then GELU: gelu(dropout(input1 @ input2, p, training), approximate).

`input1` is [B, M, K] and `input2` [B, K, N]. `inplace` has no effect that can be seen.
"""

import torch
from torch.nn import functional

from pytest_kernelbenchx import Dropout, task


@task(
    inputs={"input1": "T[B, M, K]", "input2": "T[B, K, N]"},
    output="T[B, M, N]",
    dtypes=("f32", "f16"),
    axes={"B": (1, 2, 3, 5)},
    options={},
    random=Dropout(),
    sizes={f"{n}_{t}": dict(B=32, M=n, K=n, N=n, dtype=t) for n, t in ((256, "f32"), (2048, "f32"), (2048, "f16"))},
    flops=lambda B, M, K, N: {"tensor": 2 * B * M * K * N},
    examples=[
        dict(B=2, M=65, K=33, N=70, training=False, approximate="tanh", out=True),
        dict(B=2, M=32, K=64, N=48, p=0.1, approximate="tanh", dtype=("f32", "f16"), fill="both"),
        dict(M=64, K=16, N=64, p=1.0),
        dict(M=2, K=2, N=2, p=1.5, raises=ValueError),
        dict(M=2, K=2, N=2, approximate="erf", raises=RuntimeError),
    ],
)
def fused_bmm_dropout_gelu(input1, input2, p=0.5, training=True, inplace=False, approximate="none", *, out=None):
    product = functional.dropout(torch.bmm(input1, input2), p, training, inplace)
    return functional.gelu(product, approximate=approximate)
