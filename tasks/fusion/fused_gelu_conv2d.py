"""Convolution of images with learned filters, then GELU: gelu(conv2d(input, weight, bias, ...), approximate).

All are float32. Upstream never passes `out`.
"""

from torch.nn import functional

from pytest_kernelbenchx import convolution, task

case = convolution.case


@task(
    **convolution.TASK,
    options=convolution.options(),
    examples=[
        case(F=1, H=10, W=10, KH=3, KW=3, dilation=2, groups=4),
        case(N=2, C=3, F=8, H=16, W=16, KH=3, KW=3, padding=1, bias=True, fill="both"),
        case(N=2, C=3, F=8, H=16, W=16, KH=3, KW=3, padding=1, bias=True, approximate="tanh", fill="both"),
        case(N=2, C=2, F=5, H=11, W=9, KH=3, KW=4, groups=3, padding="same", approximate="tanh", out=True),
        case(N=2, C=7, F=66, H=5, W=5, bias=True, stride=(2, 1), padding=(0, 1)),
        case(H=1, W=1, approximate="erf", raises=RuntimeError),
    ],
    sizes={str(n): case(N=16, C=16, F=32, H=n, W=n, KH=3, KW=3, padding=1) for n in (16, 128, 512)},
)
def fused_gelu_conv2d(
    input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, approximate="none", out=None
):
    convolved = functional.conv2d(input, weight, bias, stride, padding, dilation, groups)
    return functional.gelu(convolved, approximate=approximate)
