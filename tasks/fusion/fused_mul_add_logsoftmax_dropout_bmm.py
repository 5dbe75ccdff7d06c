"""Multiply and add, log-softmax, dropout, then a batched matrix product.

    x = log_softmax(input1 * input2 + other, dim)
    output = dropout(x, p, training) @ mat2

`input1`, `input2` and `other` are [B, M, K] and `mat2` is [B, K, N], all float32; the result is [B, M, N]. `dim` is the
dimension that log_softmax normalises along. In training each element of x is, independently, set to 0 with probability
`p` or else multiplied by 1 / (1 - p); with `training=False` dropout does nothing. `inplace` lets dropout overwrite x
and has no effect that can be seen: no input is mutated. `out`, if given, receives the result and is returned. The
reference is computed in float32, never in TF32.

Random numbers need not be PyTorch's, but they must differ after torch.manual_seed with another seed; upstream asks for
PyTorch's own stream. Where N >= K the mask is recovered from the result and judged element by element; else mean and
spread of the result are.
"""

import torch
from torch.nn import functional

from pytest_kernelbenchx import MixedDropout, task

SIDES = (1, 2, 3, 5, 8, 13, 16, 17, 31, 32, 33, 63, 64, 65)


def parts(input1, input2, other, mat2, dim):
    return functional.log_softmax(input1 * input2 + other, dim), mat2


def wide_or_narrow(K):
    """Mostly at least K."""
    return [n for n in SIDES if n >= K] + [n for n in SIDES if n < K][-2:]


@task(
    inputs={"input1": "f32[B, M, K]", "input2": "f32[B, M, K]", "other": "f32[B, M, K]", "mat2": "f32[B, K, N]"},
    output="f32[B, M, N]",
    axes={"B": (1, 2, 3, 5), "M": SIDES, "K": SIDES, "N": wide_or_narrow},
    options={
        "p": (0.5, 0.1, 0.3, 0.0),
        "training": lambda K, N: (True, True, False) if N >= K else (False,),  # so that the mask can be recovered
        "inplace": (False, True),
        "dim": (-1, 1, 2, 0, -2),
    },
    random=MixedDropout(parts=parts),
    tolerance={"rows": -1},
    sizes={
        "256": dict(B=32, M=256, K=256, N=256),
        "1k": dict(B=32, M=1024, K=1024, N=1024),
        "1536": dict(B=32, M=1536, K=1536, N=1536),
    },
    flops=lambda B, M, K, N: {"tensor": 2 * B * M * K * N, "vector": 8 * B * M * K},
    examples=[
        dict(B=2, M=3, K=4, N=5),
        dict(B=2, M=3, K=4, N=5, p=0.3),
        dict(B=2, M=3, K=4, N=5, inplace=True),
        dict(B=2, M=3, K=4, N=5, dim=1),
        *[
            dict(B=4, M=16, K=64, N=32, p=0.1, training=training, fill=fill)
            for training in (False, True)
            for fill in ("standard", "outlier")
        ],
        dict(B=2, M=33, K=31, N=65, p=0.5),
        dict(B=4, M=64, K=48, N=32, p=0.5, dim=1),
        dict(B=2, M=17, K=33, N=65, training=False, dim=0, out=True),
        dict(B=2, M=5, K=8, N=3, p=1.0),
        dict(B=1, M=1, K=1, N=1, training=False),
    ],
)
def fused_mul_add_logsoftmax_dropout_bmm(
    input1, input2, other, mat2, p=0.5, training=True, inplace=False, dim=-1, *, out=None
):
    x = functional.log_softmax(input1 * input2 + other, dim)
    return torch.bmm(functional.dropout(x, p, training, inplace), mat2)
