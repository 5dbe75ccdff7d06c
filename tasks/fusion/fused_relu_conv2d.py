"""Convolution of images with learned filters, then ReLU: relu(conv2d(input, weight, bias, ...)).

    output[n, o, y, x] = max(0, bias[o] + sum over c, i, j of
        input[n, c, y * stride + i * dilation - padding, x * stride + j * dilation - padding] * weight[o, c, i, j])

`input` is [N, G * C, height, width], `weight` [G * F, C, KH, KW] and `bias`, if given, [G * F], all float32; outside
`input` lie zeros. `stride`, `padding` and `dilation` are an integer or a pair (vertical, horizontal); `padding` may be
"valid" (none) or "same" (with stride 1: as much as keeps the size, the odd one at the end). `groups` is G: each of the
G groups of C input channels is convolved with its own F filters. `inplace` lets ReLU overwrite the result of the
convolution and has no effect that can be seen: no input is mutated. The reference is computed in float32, never in
TF32.
"""

import torch

from pytest_kernelbenchx import convolution, task

case = convolution.case


@task(
    inputs=convolution.INPUTS,
    output=convolution.OUTPUT,
    axes=convolution.AXES,
    where=convolution.fits,
    options={**convolution.options(), "inplace": (False, True)},
    flops=convolution.flops,
    examples=[
        case(C=3, F=2, H=5, W=5, KH=3, KW=3),
        case(C=3, F=2, H=5, W=5, KH=3, KW=3, bias=True),
        case(C=3, F=2, H=5, W=5, KH=3, KW=3, stride=2, padding=1),
        case(C=2, F=1, H=5, W=5, KH=3, KW=3, dilation=2, groups=2),
        case(N=2, C=2, F=5, H=11, W=9, KH=3, KW=3, groups=3, bias=True, padding=(1, 2), inplace=True),
        case(H=14, W=14, KH=3, KW=4, groups=16, padding="same"),
        *(
            case(N=2, C=3, F=8, H=32, W=32, KH=3, KW=3, padding=1, bias=True, fill=fill)
            for fill in ("standard", "outlier")
        ),
        case(H=1, W=1),
        case(G=2, C=3, F=2, H=5, W=5, KH=3, KW=3, raises=RuntimeError),
    ],
    sizes={str(n): case(C=3, F=64, H=n, W=n, KH=3, KW=3, padding=1) for n in (64, 512, 2048)},
)
def fused_relu_conv2d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, inplace=False):
    convolved = torch.nn.functional.conv2d(input, weight, bias, stride, padding, dilation, groups)
    return torch.nn.functional.relu(convolved, inplace=inplace)
