"""Attention of a single head with query, key and value quantized to int8 at run time.

    scores = query @ key.T / sqrt(D)          [B, S, S]
    output = softmax(scores, over keys) @ value

`query`, `key` and `value` are [B, S, D], float32 and finite; the result is a new float32 tensor [B, S, D]. There is no
mask and no other scale. Nothing is mutated. A kernel rounds the three to int8 (per row, per channel, per group), sums
the int8 products in int32 and computes the softmax in float32; the weights after the softmax may be quantized, too.

The reference is attention without quantization; the error of a result is bounded from above, and from below, since
attention in full precision is not this operation. Both sums must be long for that, over D and over the keys: of a
single key the scale alone gives the value exactly. Values of `query` and `key` beyond 10 do not occur (as upstream has
it): where scores differ by hundreds, which of two keys wins hangs on rounding. Upstream accepts kernels that do not
quantize.
"""

import torch

from pytest_kernelbenchx import W8A8, fills, task


def clamped(rng, shape, kind):
    return fills.normal()(rng, shape, kind).clamp(-10, 10)


@task(
    inputs={"query": "f32[B, S, D]", "key": "f32[B, S, D]", "value": "f32[B, S, D]"},
    output="f32[B, S, D]",
    axes={"B": (1, 2, 3)},
    fill={"query": clamped, "key": clamped},
    sizes={
        "2x512": dict(B=2, S=512, D=64),
        "2x2k": dict(B=2, S=2048, D=64),
        "16x4k": dict(B=16, S=4096, D=64),
        "32x4k": dict(B=32, S=4096, D=128),
    },
    flops=lambda B, S, D: {"tensor": 4 * B * S * S * D},
    quantized=W8A8,
    reduction=lambda S, D: min(S, D),
    scales={"query": -1, "key": -1, "value": -2},
    examples=[
        dict(B=1, S=1, D=8),
        dict(query=[[[10.0, 0.0], [0.0, 10.0]]], key=[[[10.0, 0.0], [0.0, 10.0]]]),
        dict(query="zeros", key="zeros", B=1, S=3, D=4),
        *(dict(B=2, S=64, D=32, fill=fill) for fill in ("standard", "outlier")),
        *(dict(B=1, S=32, D=16, fill=fill) for fill in ("standard", "outlier")),
        dict(B=1, S=129, D=65),
    ],
)
def attention_w8a8(query, key, value):
    scores = torch.matmul(query, key.mT) / query.shape[-1] ** 0.5
    return torch.matmul(torch.softmax(scores, dim=-1), value)
