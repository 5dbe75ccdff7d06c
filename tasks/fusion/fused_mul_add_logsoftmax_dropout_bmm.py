"""Multiply and add, log-softmax along `dim`, dropout, then a batched matrix product.

    x = log_softmax(input1 * input2 + other, dim)
    output = dropout(x, p, training) @ mat2

`input1`, `input2` and `other` are [B, M, K] and `mat2` is [B, K, N], all float32; the result is [B, M, N]. `inplace`
lets dropout overwrite x and has no effect that can be seen.

Where N >= K the mask is recovered from the result and judged element by element; else mean and spread of the result
are.
"""

import torch
from torch.nn.functional import dropout, log_softmax

from pytest_kernelbenchx import MixedDropout, task

SIDES = (1, 2, 3, 5, 8, 13, 16, 17, 31, 32, 33, 63, 64, 65)


def wide_or_narrow(K):
    """Mostly at least K."""
    return [n for n in SIDES if n >= K] + [n for n in SIDES if n < K][-2:]


@task(
    inputs={"input1": "f32[B, M, K]", "input2": "f32[B, M, K]", "other": "f32[B, M, K]", "mat2": "f32[B, K, N]"},
    output="f32[B, M, N]",
    axes={"B": (1, 2, 3, 5), "M": SIDES, "K": SIDES, "N": wide_or_narrow},
    options={
        "training": lambda K, N: (True, True, False) if N >= K else (False,),  # so that the mask can be recovered
        "dim": (-1, 1, 2, 0, -2),
    },
    random=MixedDropout(
        parts=lambda input1, input2, other, mat2, dim: (log_softmax(input1 * input2 + other, dim), mat2)
    ),
    tolerance={"rows": -1},
    sizes={str(n): dict(B=32, M=n, K=n, N=n) for n in (256, 1024, 1536)},
    flops=lambda B, M, K, N: {"tensor": 2 * B * M * K * N, "vector": 8 * B * M * K},
    examples=[
        dict(B=2, M=3, K=4, N=5, p=0.3),
        *[dict(B=4, M=16, K=64, N=32, p=0.1, training=training, fill="both") for training in (False, True)],
        dict(B=2, M=33, K=31, N=65, p=0.5),
        dict(B=4, M=64, K=48, N=32, p=0.5, dim=1),
        dict(B=2, M=17, K=33, N=65, training=False, dim=0, out=True),
        dict(B=2, M=5, K=8, N=3, p=1.0),
        dict(B=2, M=3, K=4, N=5, inplace=True, dim=1),
    ],
)
def fused_mul_add_logsoftmax_dropout_bmm(
    input1, input2, other, mat2, p=0.5, training=True, inplace=False, dim=-1, *, out=None
):
    return torch.bmm(dropout(log_softmax(input1 * input2 + other, dim), p, training, inplace), mat2)
