"""Convolution of images with learned filters, plus a scaled addend: conv2d(input, weight, bias, ...) + alpha * other.

    output[n, o, y, x] = alpha * other[n, o, y, x] + bias[o] + sum over c, i, j of
        input[n, c, y * stride + i * dilation - padding, x * stride + j * dilation - padding] * weight[o, c, i, j]

`input` is [N, G * C, height, width], `weight` [G * F, C, KH, KW] and `bias`, if given, [G * F], all float32; outside
`input` lie zeros. `other` is a number or a tensor of the shape of the result; without it nothing is added. `stride`,
`padding` and `dilation` are an integer or a pair (vertical, horizontal); `padding` may be "valid" (none) or "same" (at
stride 1: as much as keeps the size). `groups` is G: each of the G groups of C input channels is convolved with its own
F filters. No input is mutated. With `out`, which upstream ignores, the result is written there and returned. The
reference is computed in float32, never in TF32.
"""

import torch

from pytest_kernelbenchx import convolution, task

case = convolution.case


@task(
    inputs={**convolution.INPUTS, "other": "f32[N, G * F, OH, OW] | None | number"},
    output=convolution.OUTPUT,
    axes=convolution.AXES,
    where=convolution.fits,
    options={**convolution.options(), "alpha": [1, 0.5, -0.5, 2.0, 0]},
    flops=convolution.flops,
    examples=[
        case(C=3, F=2, H=5, W=5, KH=3, KW=3, bias=True),
        case(C=3, F=2, H=5, W=5, KH=3, KW=3, other=2.0),
        *[case(C=3, F=2, H=5, W=5, KH=3, KW=3, other=True, alpha=alpha) for alpha in (1, 0.5)],
        *[
            case(N=2, C=3, F=8, H=32, W=32, KH=3, KW=3, padding=1, bias=True, other=True, alpha=-0.5, fill=fill)
            for fill in ("standard", "outlier")
        ],
        case(F=2, H=14, W=9, KH=3, KW=3, other=True, groups=4, stride=(2, 1), padding=1, out=True),
        case(N=2, C=70, F=66, H=5, W=5, bias=True, other=-1.5),
        case(C=2, F=3, H=9, W=8, KH=3, KW=2, other=True, padding="same"),
        case(C=2, F=3, H=8, W=9, KH=3, KW=3, dilation=2),
    ],
    sizes={str(n): case(N=16, C=32, F=32, H=n, W=n, KH=3, KW=3, other=True, padding=1) for n in (32, 128, 512)},
)
def fused_conv2d_add(
    input, weight, bias=None, other=None, stride=1, padding=0, dilation=1, groups=1, alpha=1, out=None
):
    result = torch.nn.functional.conv2d(input, weight, bias, stride, padding, dilation, groups)
    return result if other is None else result + alpha * other
