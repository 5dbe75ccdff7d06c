"""Convolution of images with learned filters, then ReLU: relu(conv2d(input, weight, bias, ...)).

All is float32. `inplace` lets ReLU overwrite the result of the convolution and has no effect that can be seen.
"""

from torch.nn import functional

from pytest_kernelbenchx import convolution, task
from pytest_kernelbenchx.convolution import case


@task(
    **convolution.TASK,
    options=convolution.options(),
    examples=[
        case(C=3, F=2, H=5, W=5, KH=3, KW=3, stride=2, padding=1),
        case(C=2, F=1, H=5, W=5, KH=3, KW=3, dilation=2, groups=2),
        case(H=14, W=14, KH=3, KW=4, groups=16, padding="same"),
        case(N=2, C=3, F=8, H=32, W=32, KH=3, KW=3, padding=1, bias=True, fill="both"),
        case(G=2, C=3, F=2, H=5, W=5, KH=3, KW=3, raises=RuntimeError),
        case(C=2, F=5, H=11, W=9, KH=3, KW=3, groups=3, bias=True, padding=(1, 2), inplace=True),
    ],
    sizes={str(n): case(C=3, F=64, H=n, W=n, KH=3, KW=3, padding=1) for n in (64, 512, 2048)},
)
def fused_relu_conv2d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, inplace=False):
    convolved = functional.conv2d(input, weight, bias, stride, padding, dilation, groups)
    return functional.relu(convolved, inplace=inplace)
