"""Rows of a table picked by index, plus another tensor, then tanh: tanh(weight[input_indices] + other).

`input_indices` (int64) holds 0 to V - 1, repeats allowed; `weight` is float32 [V, D]; `other` is float32 and broadcasts
to the result, [..., D] with the shape of the indices before D.

With `max_norm` each row of `weight` that is picked and whose `norm_type` norm n, (sum of |w| ** norm_type) **
(1 / norm_type) or the largest |w| for inf, exceeds `max_norm` is first multiplied by max_norm / (n + 1e-7), in place:
`weight` changes, but for rows that are not picked; without `max_norm` it stays as it is. `padding_idx` (an index, from
the end if negative), `scale_grad_by_freq` and `sparse` concern gradients alone.
"""

import math

import torch

from pytest_kernelbenchx import Shapes, fills, task


@task(
    inputs={"input_indices": "i64[*S]", "weight": "f32[V, D]", "other": "f32[*S~, D]"},
    output="f32[*S, D]",
    axes={"S": Shapes(0, 3, min_side=0)},
    fill={"input_indices": fills.indices("V")},
    options={
        "padding_idx": lambda V: [None, 0, -1],
        "max_norm": lambda D: [None, None, 0.5, D**0.5],
        "norm_type": [2.0, 1.0, 3.5, math.inf],
    },
    mutates=("weight",),
    examples=[
        dict(input_indices=[1, 2, 3, 1], V=5, D=3, max_norm=1.0),
        dict(S=[4, 16], V=128, D=64, padding_idx=0, fill="both"),
        dict(S=[4, 16], V=128, D=65, max_norm=8.0, out=True, fill="both"),
        dict(S=[3], V=4, D=1025, max_norm=20.0, norm_type=1.0, layout={"weight": "transposed"}),
        dict(S=[9], V=5, D=33, max_norm=0.5, norm_type=math.inf),
        dict(S=[0], V=2, D=3),
    ],
    sizes={str(n): dict(S=[n, n], V=1024, D=n) for n in (8, 64, 512)},
)
def fused_embedding_add_tanh(
    input_indices, weight, other, *,
    padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, sparse=False, out=None,
):  # fmt: skip
    options = (padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse)
    return torch.tanh(torch.nn.functional.embedding(input_indices, weight, *options) + other)
