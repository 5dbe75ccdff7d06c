"""Batched matrix product, dropout, then GELU: gelu(dropout(input1 @ input2, p, training), approximate).

`input1` is [B, M, K] and `input2` [B, K, N], both float32 or both float16; the result is [B, M, N] of the same type. In
training each element of the product is, independently, set to 0 with probability `p` or else multiplied by 1 / (1 - p);
with `training=False` dropout does nothing. GELU of x is x * Phi(x), Phi the standard normal distribution function; with
`approximate="tanh"` it is x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x ** 3))). `inplace` lets dropout overwrite
the product and has no effect that can be seen: no input is mutated. `out`, if given, receives the result and is
returned. A `p` outside 0 to 1 raises ValueError, another `approximate` RuntimeError.

Random numbers need not be PyTorch's, but they must differ after torch.manual_seed with another seed; upstream asks for
PyTorch's own stream.
"""

import torch
from torch.nn import functional

from pytest_kernelbenchx import Dropout, task


@task(
    inputs={"input1": "T[B, M, K]", "input2": "T[B, K, N]"},
    output="T[B, M, N]",
    dtypes=("f32", "f16"),
    axes={"B": (1, 2, 3, 5)},
    options={
        "p": (0.5, 0.1, 0.3, 0.0),
        "training": (True, False),
        "inplace": (False, True),
        "approximate": ("none", "tanh"),
    },
    random=Dropout(),
    sizes={
        "256": dict(B=32, M=256, K=256, N=256),
        "1k": dict(B=32, M=1024, K=1024, N=1024),
        "2k": dict(B=32, M=2048, K=2048, N=2048),
        "2k_f16": dict(B=32, M=2048, K=2048, N=2048, dtype="f16"),
    },
    flops=lambda B, M, K, N: {"tensor": 2 * B * M * K * N},
    examples=[
        dict(B=2, M=3, K=4, N=5),
        dict(B=2, M=3, K=4, N=5, p=0.3, training=False),
        dict(B=2, M=3, K=4, N=5, inplace=True),
        dict(B=2, M=3, K=4, N=5, approximate="tanh"),
        dict(B=2, M=65, K=33, N=70, training=False, approximate="tanh", out=True),
        *(
            dict(B=2, M=32, K=64, N=48, p=0.1, approximate="tanh", fill=fill, dtype=dtype)
            for fill in ("standard", "outlier")
            for dtype in ("f16", "f32")
        ),
        dict(B=1, M=64, K=16, N=64, p=1.0),
        dict(B=1, M=1, K=1, N=1, training=False),
        dict(B=1, M=2, K=2, N=2, p=1.5, raises=ValueError),
        dict(B=1, M=2, K=2, N=2, approximate="erf", raises=RuntimeError),
    ],
)
def fused_bmm_dropout_gelu(input1, input2, p=0.5, training=True, inplace=False, approximate="none", *, out=None):
    product = functional.dropout(torch.bmm(input1, input2), p, training, inplace)
    return functional.gelu(product, approximate=approximate)
