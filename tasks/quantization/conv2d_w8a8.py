"""Convolution of images with image and filters quantized to int8 at run time.

    output[n, f, y, x] = bias[f] + sum over c, i, j of
        input[n, c, y * stride + i - padding, x * stride + j - padding] * weight[f, c, i, j]

`input` is [N, C, height, width], `weight` [F, C, KH, KW] and `bias`, if given, [F], all float32; outside `input` lie
zeros. Scales are per image of `input`, or finer, and per filter of `weight`, or finer; the bias is added in float32.
"""

import torch

from pytest_kernelbenchx import W8A8, convolution, task
from pytest_kernelbenchx.convolution import case
from pytest_kernelbenchx.judge.operands import beyond_columns

OPTIONS = convolution.options()


def beyond_windows(error, input, weight, stride, padding):
    """What of the error no filters explain: that of an exact input."""
    taps = weight[0].numel()
    if error.numel() <= taps * len(weight):
        return error.new_empty(0)
    each = torch.eye(taps, dtype=error.dtype, device=error.device).reshape(taps, *weight.shape[1:])
    windows = torch.nn.functional.conv2d(input, each, None, stride, padding)
    return beyond_columns(error.movedim(1, -1).flatten(0, 2), windows.movedim(1, -1).flatten(0, 2))


def beyond_filters(error, weight):
    """What of the error no windows explain: that of an exact weight."""
    return beyond_columns(error.movedim(1, 0).flatten(1), weight.flatten(1))


@task(
    **convolution.TASK | dict(axes={**convolution.AXES, "G": (1,), "DY": (1,), "DX": (1,)}),
    options={name: OPTIONS[name] for name in ("stride", "padding")},
    quantized=W8A8,
    reduction="C * KH * KW",
    scales={"input": (1, 2, 3), "weight": (1, 2, 3)},
    traces={"input": beyond_windows, "weight": beyond_filters},
    examples=[
        case(C=8, F=16, H=4, W=4),
        case(F=2, H=5, W=5, KH=3, KW=3, padding=1, weight="zeros"),
        case(C=2, F=3, H=4, W=4, KH=2, KW=2, bias=[100.0, -100.0, 50.0]),
        case(N=2, C=3, F=8, H=16, W=16, KH=3, KW=3, bias=True, padding=1, fill="both"),
        case(C=16, F=16, H=8, W=8, KH=3, KW=3, padding="same", fill="both"),
        case(N=2, C=70, F=33, H=5, W=7, KH=1, KW=2, bias=True, stride=(2, 1), padding=(0, 1)),
        case(C=3, F=4, H=8, W=8, KH=3, KW=3, stride=2),
        case(N=2, C=5, F=17, H=9, W=11, KH=2, KW=2, padding=1),
        case(C=5, F=65, H=5, W=7, KH=2, KW=2),
    ],
    sizes={
        "224": case(N=1, C=3, F=64, H=224, W=224, KH=7, KW=7, stride=2, padding=3, bias=True),
        "56": case(N=32, C=64, F=128, H=56, W=56, KH=3, KW=3, padding=1, bias=True),
        "28": case(N=128, C=128, F=256, H=28, W=28, KH=3, KW=3, padding=1, bias=True),
    },
)
def conv2d_w8a8(input, weight, bias=None, stride=1, padding=0):
    return torch.nn.functional.conv2d(input, weight, bias, stride, padding)
