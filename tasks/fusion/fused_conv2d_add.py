"""Convolution of images with learned filters, plus a scaled addend: conv2d(input, weight, bias, ...) + alpha * other.

    output[n, o, y, x] = alpha * other[n, o, y, x] + bias[o] + sum over c, i, j of
        input[n, c, y * stride + i * dilation - padding, x * stride + j * dilation - padding] * weight[o, c, i, j]

`input` is [N, G * C, height, width], `weight` [G * F, C, KH, KW] and `bias`, if given, [G * F], all float32; outside
`input` lie zeros. `other` is a number or a tensor of the shape of the result; without it nothing is added. `stride`,
`padding` and `dilation` are an integer or a pair (vertical, horizontal); `padding` may be "valid" (none) or "same" (at
stride 1: as much as keeps the size). `groups` is G: each of the G groups of C input channels is convolved with its own
F filters. No input is mutated. With `out`, which upstream ignores, the result is written there and returned. The
reference is computed in float32, never in TF32.

The axes are those of the output, OH x OW; strides SY, SX, dilations DY, DX and paddings PY, PX are axes, too, so that
height and width of the input follow.
"""

import torch

from pytest_kernelbenchx import task

SIDES = (1, 2, 3, 5, 8, 13, 16, 17, 31, 32, 33)
ONES = dict(SY=1, SX=1, DY=1, DX=1, PY=0, PX=0)
PADDED = {**ONES, "PY": 1, "PX": 1}


def pair(vertical, horizontal):
    """How an option may be written."""
    return [(vertical, horizontal), *([vertical] if vertical == horizontal else [])]


def paddings(KH, KW, SY, SX, DY, DX, PY, PX):
    """How `padding` may be written; "same" keeps height and width."""
    same = SY == SX == 1 and (2 * PY, 2 * PX) == (DY * (KH - 1), DX * (KW - 1))
    return [*pair(PY, PX), *(["valid"] if PY == PX == 0 else []), *(["same"] if same else [])]


def size(**axes):
    return dict(G=1, F=32, C=32, KH=3, KW=3, groups=1, other=True, padding=1, **PADDED, **axes)


def case(**axes):
    """An example: steps of 1 and no padding, where it does not say otherwise."""
    return {**ONES, **axes}


@task(
    inputs={
        "input": "f32[N, G * C, OH * SY - SY + KH * DY - DY + 1 - 2 * PY, OW * SX - SX + KW * DX - DX + 1 - 2 * PX]",
        "weight": "f32[G * F, C, KH, KW]",
        "bias": "f32[G * F] | None",
        "other": "f32[N, G * F, OH, OW] | None | number",
    },
    output="f32[N, G * F, OH, OW]",
    axes={
        "N": (1, 2, 3),
        "G": (1, 1, 2, 3),
        "F": SIDES,
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
        "padding": paddings,
        "dilation": lambda DY, DX: pair(DY, DX),
        "groups": lambda G: [G],
        "alpha": [1, 0.5, -0.5, 2.0, 0],
    },
    flops=lambda N, G, F, C, OH, OW, KH, KW: 2 * N * G * F * OH * OW * (C * KH * KW + 1),
    examples=[
        case(C=3, F=2, OH=3, OW=3, KH=3, KW=3, bias=True),
        case(C=3, F=2, OH=3, OW=3, KH=3, KW=3, other=2.0),
        *[case(C=3, F=2, OH=3, OW=3, KH=3, KW=3, other=True, alpha=alpha) for alpha in (1, 0.5)],
        *[
            dict(size(N=2, OH=32, OW=32), C=3, F=8, bias=True, alpha=-0.5, fill=fill)
            for fill in ("standard", "outlier")
        ],
        dict(size(OH=7, OW=9), G=4, C=1, F=2, groups=4, SY=2, stride=(2, 1), out=True),
        case(N=2, C=70, F=66, OH=5, OW=5, bias=True, other=-1.5),
        dict(size(OH=9, OW=8), C=2, F=3, padding="same"),
        case(DY=2, DX=2, dilation=2, KH=3, KW=3, C=2, F=3, OH=4, OW=5),
    ],
    sizes={
        "32": size(N=16, OH=32, OW=32),
        "128": size(N=16, OH=128, OW=128),
        "512": size(N=16, OH=512, OW=512),
    },
)
def fused_conv2d_add(
    input, weight, bias=None, other=None, stride=1, padding=0, dilation=1, groups=1, alpha=1, out=None
):
    result = torch.nn.functional.conv2d(input, weight, bias, stride, padding, dilation, groups)
    return result if other is None else result + alpha * other
