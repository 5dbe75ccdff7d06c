"""Convolution (cross-correlation) of images with learned filters.

    output[n, o, y, x] = bias[o] + sum over c, i, j of
        input[n, c, y * stride + i * dilation - padding, x * stride + j * dilation - padding] * weight[o, c, i, j]

`input` is [N, G * C, height, width], `weight` [G * F, C, KH, KW] and `bias`, if given, [G * F], all float32; outside
`input` lie zeros. `stride`, `padding` and `dilation` are an integer or a pair (vertical, horizontal); `padding` may be
"valid" (none) or "same" (with stride 1: as much as keeps the size, the odd one at the end). `groups` is G: each of the
G groups of C input channels is convolved with its own F filters.
"""

import torch

from pytest_kernelbenchx import convolution, task
from pytest_kernelbenchx.convolution import case


@task(
    **convolution.TASK,
    options=convolution.options(),
    examples=[
        case(C=3, F=2, H=5, W=5, KH=3, KW=3, padding=1, dilation=2),
        case(H=14, W=14, KH=3, KW=3, groups=16, padding="same"),
        case(C=2, F=3, H=9, W=8, KH=2, KW=4, padding="same"),
        case(C=70, F=66, H=5, W=5, bias=True),
        case(N=2, C=3, F=4, H=16, W=16, KH=3, KW=3, stride=2, padding=1, fill="both"),
        case(G=2, C=3, F=2, H=5, W=5, KH=3, KW=3, raises=RuntimeError),
        case(C=2, F=5, H=11, W=9, KH=3, KW=3, groups=3, bias=True, padding=(1, 2)),
    ],
    sizes={
        "small": case(N=2, C=16, F=32, H=16, W=16, KH=3, KW=3, bias=True),
        # bound by computation; larger ones PyTorch does by Winograd's algorithm, with fewer operations than are counted
        "middle": case(N=32, C=256, F=512, H=16, W=16, KH=3, KW=3, bias=True),
    },
)
def conv2d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    return torch.nn.functional.conv2d(input, weight, bias, stride, padding, dilation, groups)
