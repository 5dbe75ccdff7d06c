"""Layer normalization with input and weight quantized to 8 bits at run time.

    output = (input - mean) / sqrt(variance + eps) * weight + bias

`mean` and `variance` (divided by the number of elements, not one less) are those of every slice over the last
dimensions, of the shape `normalized_shape`: a list or tuple, or an integer for one dimension. `input` is [*, *S],
`weight` and `bias`, if given, [*S], all float32. A kernel rounds `input` to int8, with one scale per slice or finer,
and `weight` to int8 or to float8 (e4m3); statistics, bias and all arithmetic stay in float32, those of the rounded
values or of the original ones.

The upper bound of the error is wider than that of other int8 tasks, as float8 has four significant bits. Slices whose
elements are all equal show rounding alone, and have a bias here.
"""

import math
from dataclasses import replace

import torch

from pytest_kernelbenchx import W8A8, Shapes, task
from pytest_kernelbenchx.judge.operands import ENOUGH, beyond_columns

ALL = dict(weight=True, bias=True)
LENGTHS = (16, 17, 31, 33, 64, 65, 97, 128, 129, 255, 257, 511, 1024, 1025)


def columns(values, shape):
    """Values [*, *S] as [elements of S, slices, 1]."""
    return values.reshape(-1, math.prod(shape)).mT.unsqueeze(-1)


def beyond_weight(error, input, normalized_shape, eps):
    """What of the error no weight explains: that of an exact input."""
    shape = as_list(normalized_shape)
    exact = torch.nn.functional.layer_norm(input, shape, None, None, eps)
    return beyond_columns(columns(error, shape), columns(exact, shape))


def of_weight(error, input, normalized_shape, eps):
    """The error of the weight that explains most of the error, element by element."""
    shape = as_list(normalized_shape)
    exact = columns(torch.nn.functional.layer_norm(input, shape, None, None, eps), shape)
    found = (columns(error, shape) * exact).sum(1) / exact.square().sum(1)
    return found if found.numel() >= ENOUGH else found[:0]


def as_list(shape):
    return [shape] if isinstance(shape, int) else list(shape)


@task(
    inputs={"input": "f32[*B, N]", "weight": "f32[*S] | None", "bias": "f32[*S] | None"},
    output="f32[*B, N]",
    axes={"B": Shapes(0, 3), "N": LENGTHS, "S": lambda N: [[N]]},
    options={"normalized_shape": lambda S: [S, tuple(S), S[0]], "eps": (1e-5, 1e-3, 1.0)},
    quantized=replace(W8A8, float8=("weight",)),
    reduction="N",
    scales={"input": -1, "weight": None},
    traces={"input": beyond_weight, "weight": of_weight},
    examples=[
        dict(B=[3], N=16, S=[16], normalized_shape=[16]),
        dict(input="ones", B=[2], N=17, S=[17], normalized_shape=[17], **ALL),
        dict(input="zeros", B=[3], N=33, S=[33], normalized_shape=33, **ALL),
        dict(B=[64], N=257, S=[257], normalized_shape=257, weight=True),
        *[dict(B=[16], N=257, S=[257], normalized_shape=[257], **affine, fill="both") for affine in (ALL, {})],
        dict(B=[2, 3, 4], N=33, S=[3, 4, 33], normalized_shape=[3, 4, 33], bias=True),
        dict(B=[4], N=1, S=[1], normalized_shape=1, **ALL),
        dict(B=[2], N=17001, S=[17001], normalized_shape=[17001], weight=True),
        dict(B=[3, 5], N=65, S=[5, 65], normalized_shape=(5, 65), weight=True, eps=0.1),
    ],
    sizes={
        label: dict(B=[B], N=N, S=[N], normalized_shape=[N], **ALL)
        for label, B, N in (("32", 32, 2048), ("2k", 2048, 8192), ("16k", 16384, 8192))
    },
)
def layernorm_w8a8(input, normalized_shape, weight=None, bias=None, eps=1e-05):
    return torch.nn.functional.layer_norm(input, as_list(normalized_shape), weight, bias, eps)
