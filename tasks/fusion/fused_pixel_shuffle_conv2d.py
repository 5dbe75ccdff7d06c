"""Convolution of images with learned filters, then pixel shuffle: channels become pixels.

    shuffled[n, k, y * r + a, x * r + b] = convolved[n, k * r ** 2 + a * r + b, y, x]      r = upscale_factor
    convolved[n, o, y, x] = bias[o] + sum over c, i, j of
        input[n, c, y * stride + i * dilation - padding, x * stride + j * dilation - padding] * weight[o, c, i, j]

`input` is [N, G * C, height, width], `weight` [O, C, KH, KW] and `bias`, if given, [O], all float32, with O a multiple
of r ** 2 and of G; outside `input` lie zeros. `stride`, `padding` and `dilation` are an integer or a pair (vertical,
horizontal). `groups` is G: each of the G groups of C input channels is convolved with its own O / G filters. The result
is [N, O / r ** 2, r * OH, r * OW]. Nothing is mutated. The reference is computed in float32, never in TF32.

The axes are those of the convolution's output, OH x OW; strides SY, SX, dilations DY, DX and paddings PY, PX are axes,
too, so that height and width of the input follow. R is `upscale_factor`, and O is G * F * R ** 2.
"""

import torch

from pytest_kernelbenchx import task

SIDES = (1, 2, 3, 5, 8, 13, 16, 17, 31, 32, 33)
ONES = dict(SY=1, SX=1, DY=1, DX=1, PY=0, PX=0)


def pair(vertical, horizontal):
    """How an option may be written."""
    return [(vertical, horizontal), *([vertical] if vertical == horizontal else [])]


def size(**axes):
    return dict(N=16, G=1, F=3, R=2, C=3, KH=3, KW=3, bias=True, **ONES, **axes)


def case(**axes):
    """An example: steps of 1 and no padding, where it does not say otherwise."""
    return {**ONES, **axes}


@task(
    inputs={
        "input": "f32[N, G * C, OH * SY - SY + KH * DY - DY + 1 - 2 * PY, OW * SX - SX + KW * DX - DX + 1 - 2 * PX]",
        "weight": "f32[G * F * R * R, C, KH, KW]",
        "bias": "f32[G * F * R * R] | None",
    },
    output="f32[N, G * F, OH * R, OW * R]",
    axes={
        "N": (1, 2, 3),
        "G": (1, 1, 2, 3),
        "F": (1, 2, 3, 5, 8, 17),
        "R": (1, 2, 3, 4),
        "C": SIDES,
        "OH": SIDES,
        "OW": SIDES,
        **{"KH": (1, 2, 3, 5), "KW": (1, 2, 3, 4), "SY": (1, 2), "SX": (1, 1, 3), "DY": (1, 2), "DX": (1, 1, 2)},
        **{"PY": (0, 1, 2), "PX": (0, 1)},
    },
    where=lambda OH, OW, KH, KW, SY, SX, DY, DX, PY, PX: (
        (OH - 1) * SY + (KH - 1) * DY >= 2 * PY and (OW - 1) * SX + (KW - 1) * DX >= 2 * PX
    ),
    options={
        "stride": lambda SY, SX: pair(SY, SX),
        "padding": lambda PY, PX: pair(PY, PX),
        "dilation": lambda DY, DX: pair(DY, DX),
        "groups": lambda G: [G],
        "upscale_factor": lambda R: [R],
    },
    flops=lambda N, G, F, R, C, OH, OW, KH, KW: 2 * N * G * F * R * R * OH * OW * C * KH * KW,
    examples=[
        *[case(C=4, F=4, R=2, OH=6, OW=6, KH=3, KW=3, bias=bias) for bias in (False, True)],
        case(C=4, F=4, R=2, OH=7, OW=7, KH=3, KW=3, SY=2, SX=2, stride=2),
        case(C=4, F=4, R=2, OH=8, OW=8, KH=3, KW=3, PY=1, PX=1, padding=1),
        *[
            case(N=2, C=3, F=8, R=2, OH=16, OW=16, KH=3, KW=3, PY=1, PX=1, padding=1, bias=True, fill=fill)
            for fill in ("standard", "outlier")
        ],
        case(G=2, C=3, F=2, R=3, OH=5, OW=7, KH=3, KW=2, DY=2, dilation=(2, 1), groups=2, upscale_factor=3, bias=True),
        case(F=5, C=70, R=1, OH=9, OW=8, upscale_factor=1),
    ],
    sizes={"16": size(OH=14, OW=14), "256": size(OH=254, OW=254), "1k": size(OH=1022, OW=1022)},
)
def fused_pixel_shuffle_conv2d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, upscale_factor=2):
    convolved = torch.nn.functional.conv2d(input, weight, bias, stride, padding, dilation, groups)
    return torch.nn.functional.pixel_shuffle(convolved, upscale_factor)
