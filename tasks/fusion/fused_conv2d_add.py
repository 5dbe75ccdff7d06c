"""Convolution of images with learned filters, plus a scaled addend: conv2d(input, weight, bias, ...) + alpha * other.

All are float32. `other` is a number or a tensor of the shape of the result; without it nothing is added. Upstream
ignores `out`.
"""

import torch

from pytest_kernelbenchx import convolution, task

case = convolution.case


@task(
    **convolution.TASK | {"inputs": {**convolution.INPUTS, "other": "f32[N, G * F, OH, OW] | None | number"}},
    options={**convolution.options(), "alpha": [1, 0.5, -0.5, 2.0, 0]},
    examples=[
        case(C=3, F=2, H=5, W=5, KH=3, KW=3, other=2.0),
        case(N=2, C=3, F=8, H=32, W=32, KH=3, KW=3, padding=1, bias=True, other=True, alpha=-0.5, fill="both"),
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
