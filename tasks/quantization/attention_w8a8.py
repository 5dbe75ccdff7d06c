"""Attention of a single head with query, key and value quantized to int8 at run time.

    scores = query @ key.T / sqrt(D)          [B, S, S]
    output = softmax(scores, over keys) @ value

`query`, `key` and `value` are [B, S, D], float32; so is the result. There is no mask and no other scale. Scales are per
row, per channel or per group; the softmax is computed in float32, and its weights may be quantized, too.

The error is bounded from below where both sums are long, over D and over the keys: of a single key the scale alone
gives the value exactly. Values of `query` and `key` beyond 10 do not occur (as upstream has it): where scores differ by
hundreds, which of two keys wins hangs on rounding.
"""

from dataclasses import replace

import torch

from pytest_kernelbenchx import W8A8, fills, task
from pytest_kernelbenchx.judge.operands import ENOUGH, beyond_columns


def hardly_mixed(error, query, key):
    """The error in those directions that exact weights of the softmax make small, whatever the value is."""
    weights = torch.softmax(query @ key.mT / query.shape[-1] ** 0.5, dim=-1)
    least = max(weights.shape[-1] // 8, 1)
    return torch.linalg.svd(weights).U[..., -least:].mT @ error if error.numel() // 8 >= ENOUGH else error[:0]


@task(
    inputs={"query": "f32[B, S, D]", "key": "f32[B, S, D]", "value": "f32[B, S, D]"},
    output="f32[B, S, D]",
    axes={"B": (1, 2, 3)},
    fill=dict.fromkeys(("query", "key"), fills.normal(low=-10, high=10)),
    flops=lambda B, S, D: {"tensor": 4 * B * S * S * D},
    quantized=replace(W8A8, factor=3.0),  # weights in int8 make 2.1 times the error over all, 3.5 in one tile
    reduction=lambda S, D: min(S, D),
    scales={"query": -1, "key": -1, "value": -2},
    traces={"query and key": hardly_mixed, "value": lambda error, value: beyond_columns(error.mT, value.mT)},
    examples=[
        dict(B=1, S=1, D=8),
        dict(query="zeros", key="zeros", B=1, S=3, D=4),
        *[dict(B=b, S=s, D=d, fill="both") for b, s, d in ((2, 64, 32), (1, 32, 16))],
        *[dict(B=1, S=s, D=d) for s, d in ((129, 65), (33, 97))],
        dict(query=[[[10.0, 0.0], [0.0, 10.0]]], key=[[[10.0, 0.0], [0.0, 10.0]]]),
    ],
    sizes={"2x512": dict(B=2, S=512, D=64), "2x2k": dict(B=2, S=2048, D=64), "32x4k": dict(B=32, S=4096, D=128)},
)
def attention_w8a8(query, key, value):
    scores = torch.matmul(query, key.mT) / query.shape[-1] ** 0.5
    return torch.matmul(torch.softmax(scores, dim=-1), value)
