"""Two matrix products with softmax and dropout between them, a residual, then layer normalisation.

    s = dropout(softmax(input @ weight1) over the last dimension, dropout_p)
    z = s @ weight2 + residual
    output = (z - mean) / sqrt(variance + eps), over the last dimension, the variance divided by D

`input` is [B, L, I], `weight1` [I, K], `weight2` [K, D] and `residual` [B, L, D], all float32; so is the result,
[B, L, D]. Dropout is always on. The norm has no gain and no bias.

Where D >= 2 * K + 2 the mask can be recovered, and is judged: an output y is (z - m) / d with unknown m and d, so that
y * d + m - s @ weight2 = residual, D equations with K + 2 unknowns. Elsewhere the share and the spread of the result
are.
"""

import torch
from torch.nn import functional

from pytest_kernelbenchx import HiddenDropout, fills, task

SIDES = (1, 2, 3, 5, 8, 13, 16, 17, 31, 32, 33, 64, 65)


def before(output, weight2, residual):
    """What dropout returned, if there are equations enough."""
    if weight2.shape[1] < 2 * weight2.shape[0] + 2:
        return None
    known = weight2.mT.expand(*output.shape[:-1], *weight2.mT.shape)
    unknowns = torch.cat([-known, output.unsqueeze(-1), torch.ones_like(output).unsqueeze(-1)], -1)
    return torch.linalg.lstsq(unknowns, residual.unsqueeze(-1)).solution[..., :-2, 0]


@task(
    inputs={"input": "f32[B, L, I]", "weight1": "f32[I, K]", "weight2": "f32[K, D]", "residual": "f32[B, L, D]"},
    output="f32[B, L, D]",
    axes={"B": (1, 2, 3), "L": SIDES, "I": SIDES, "K": SIDES, "D": (*SIDES[1:], 127, 128, 129)},
    options={
        "dropout_p": lambda K, D: (0.1, 0.1, 0.5, 0.3, 0.0) if D >= 2 * K + 2 else (0.0,),
        "eps": (1e-5, 1e-3, 0.1),
    },
    fill=dict.fromkeys(("weight2", "residual"), fills.normal()),  # of constant rows the mask cannot be recovered
    random=HiddenDropout("dropout_p", None, recover=before),
    tolerance={"rows": -1},
    examples=[
        dict(B=2, L=3, I=4, K=5, D=12),
        dict(B=2, L=16, I=64, K=128, D=64, dropout_p=0.0, fill="both"),
        dict(B=2, L=65, I=16, K=17, D=65, dropout_p=0.3, fill="both"),
        dict(B=2, L=65, I=8, K=65, D=16, dropout_p=0.5),
        dict(B=2, L=5, I=300, K=33, D=257, dropout_p=0.0, eps=0.1, out=True),
        dict(B=2, L=5, I=8, K=8, D=33, dropout_p=1.0),
        dict(B=3, L=2, I=4, K=5, D=4, dropout_p=0.0),
    ],
    sizes={label: dict(B=8, L=128, I=n, K=4 * n, D=n) for label, n in (("256", 256), ("1k", 1024), ("4k", 4096))},
    flops=lambda B, L, I, K, D: {"tensor": 2 * B * L * K * (I + D)},  # noqa: E741
)
def fused_transformer_block(input, weight1, weight2, residual, dropout_p=0.1, eps=1e-5, *, out=None):
    s = functional.dropout(torch.softmax(input @ weight1, -1), dropout_p)
    return functional.layer_norm(s @ weight2 + residual, residual.shape[-1:], eps=eps)
