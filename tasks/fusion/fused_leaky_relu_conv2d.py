"""Convolution of images with learned filters, then leaky ReLU: z where z > 0, negative_slope * z elsewhere.

z = conv2d(input, weight, bias, stride, padding, dilation, groups), all float32; `negative_slope` is any number.
`inplace` lets leaky ReLU overwrite z and has no effect that can be seen.
"""

from torch.nn import functional

from pytest_kernelbenchx import convolution, task
from pytest_kernelbenchx.convolution import case


@task(
    **convolution.TASK,
    options={**convolution.options(), "negative_slope": [0.01, 0.1, 0.5, 0.0, 1.5, -0.25]},
    examples=[
        case(C=3, F=6, H=16, W=16, KH=3, KW=3, bias=True, stride=2, padding=1),
        case(F=1, H=16, W=16, KH=3, KW=3, bias=True, dilation=2, groups=6),
        case(N=2, C=3, F=8, H=32, W=32, KH=3, KW=3, padding=1, bias=True, negative_slope=0.1, fill="both"),
        case(N=2, C=70, F=66, H=5, W=5, bias=True, stride=(2, 1), padding=(0, 1), inplace=True),
        case(C=2, F=5, H=11, W=9, KH=3, KW=4, groups=3, padding="same", negative_slope=-0.25),
    ],
    sizes={str(n): case(C=3, F=6, H=n, W=n, KH=3, KW=3, bias=True) for n in (256, 1408, 4096)},
)
def fused_leaky_relu_conv2d(
    input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, negative_slope=0.01, inplace=False
):
    convolved = functional.conv2d(input, weight, bias, stride, padding, dilation, groups)
    return functional.leaky_relu(convolved, negative_slope, inplace)
