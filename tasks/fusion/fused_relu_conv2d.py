"""Convolution of images with learned filters, then ReLU: relu(conv2d(input, weight, bias, ...)).

    output[n, o, y, x] = max(0, bias[o] + sum over c, i, j of
        input[n, c, y * stride + i * dilation - padding, x * stride + j * dilation - padding] * weight[o, c, i, j])

`input` is [N, G * C, height, width], `weight` [G * F, C, KH, KW] and `bias`, if given, [G * F], all float32; outside
`input` lie zeros. `stride`, `padding` and `dilation` are an integer or a pair (vertical, horizontal); `padding` may be
"valid" (none) or "same" (with stride 1: as much as keeps the size, the odd one at the end). `groups` is G: each of the
G groups of C input channels is convolved with its own F filters. `inplace` lets ReLU overwrite the result of the
convolution and has no effect that can be seen: no input is mutated. The reference is computed in float32, never in
TF32.

Height and width are written H + KH - 1 and W + KW - 1 here, so that a filter always fits: H x W is the size of the
output at stride 1 without padding.
"""

import math

import torch

from pytest_kernelbenchx import task

SIDES = (1, 2, 3, 5, 8, 13, 16, 17, 31, 32, 33, 63, 64, 65, 129)


def within(*others):
    """Lengths of an axis that keep the output, whose other axes have lengths `others`, at 2**15 elements."""
    return [n for n in SIDES if n * math.prod(others) <= 2**15] or [1]


@task(
    inputs={
        "input": "f32[N, G * C, H + KH - 1, W + KW - 1]",
        "weight": "f32[G * F, C, KH, KW]",
        "bias": "f32[G * F] | None",
    },
    output="f32[...]",
    axes={
        "N": (1, 2, 3),
        "G": (1, 1, 2, 3),
        "F": lambda N, G, H, W: within(N, G, H, W),
        "H": lambda N, G, F, W: within(N, G, F, W),
        "W": lambda N, G, F, H: within(N, G, F, H),
        "KH": (1, 2, 3, 5),
        "KW": (1, 2, 3, 4),
    },
    options={
        "stride": (1, 2, (2, 1), (1, 3)),
        "padding": lambda stride: (0, 1, 2, (2, 0), "valid", "same")[: 6 if stride == 1 else 5],
        "dilation": lambda H, W, KH, KW: (1, 2, (2, 1))[: 3 if H >= KH and W >= KW else 1],
        "groups": lambda G: (G,),
        "inplace": (False, True),
    },
    sizes={
        "64": dict(N=1, G=1, C=3, F=64, H=62, W=62, KH=3, KW=3, padding=1),
        "512": dict(N=1, G=1, C=3, F=64, H=510, W=510, KH=3, KW=3, padding=1),
        "2k": dict(N=1, G=1, C=3, F=64, H=2046, W=2046, KH=3, KW=3, padding=1),
    },
    flops=lambda N, G, C, F, H, W, KH, KW, padding: (
        N * G * F * (H + 2 * padding) * (W + 2 * padding) * (2 * C * KH * KW + 1)
    ),
    bytes=lambda N, G, C, F, H, W, KH, KW, padding: (
        4 * (N * G * C * (H + KH - 1) * (W + KW - 1) + G * F * C * KH * KW)
        + 4 * N * G * F * (H + 2 * padding) * (W + 2 * padding)
    ),
    examples=[
        dict(N=1, C=3, F=2, H=3, W=3, KH=3, KW=3),
        dict(N=1, C=3, F=2, H=3, W=3, KH=3, KW=3, bias=True),
        dict(N=1, C=3, F=2, H=3, W=3, KH=3, KW=3, stride=2, padding=1),
        dict(N=1, G=2, C=2, F=1, H=3, W=3, KH=3, KW=3, dilation=2, groups=2),
        dict(N=2, G=3, C=2, F=5, H=9, W=7, KH=3, KW=3, groups=3, bias=True, padding=(1, 2), inplace=True),
        dict(N=1, G=16, C=1, F=1, H=12, W=12, KH=3, KW=3, groups=16, padding="same"),
        *(
            dict(N=2, C=3, F=8, H=30, W=30, KH=3, KW=3, padding=1, bias=True, fill=fill)
            for fill in ("standard", "outlier")
        ),
        dict(N=1, C=1, F=1, H=1, W=1, KH=1, KW=1),
        dict(N=1, G=2, C=3, F=2, H=3, W=3, KH=3, KW=3, raises=RuntimeError),
    ],
)
def fused_relu_conv2d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, inplace=False):
    convolved = torch.nn.functional.conv2d(input, weight, bias, stride, padding, dilation, groups)
    return torch.nn.functional.relu(convolved, inplace=inplace)
