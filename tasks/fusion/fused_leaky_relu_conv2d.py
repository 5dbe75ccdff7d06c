"""Convolution of images with learned filters, then leaky ReLU: z where z > 0, negative_slope * z elsewhere.

    z[n, o, y, x] = bias[o] + sum over c, i, j of
        input[n, c, y * stride + i * dilation - padding, x * stride + j * dilation - padding] * weight[o, c, i, j]

`input` is [N, G * C, height, width], `weight` [G * F, C, KH, KW] and `bias`, if given, [G * F], all float32; outside
`input` lie zeros. `stride`, `padding` and `dilation` are an integer or a pair (vertical, horizontal); `padding` may be
"valid" (none) or "same" (with stride 1: as much as keeps the size, the odd one at the end). `groups` is G: each of the
G groups of C input channels is convolved with its own F filters. `negative_slope` is any number. `inplace` lets leaky
ReLU overwrite z and has no effect that can be seen: no input is mutated. The reference is computed in float32, never in
TF32.
"""

from torch.nn import functional

from pytest_kernelbenchx import convolution, task

case = convolution.case


@task(
    inputs=convolution.INPUTS,
    output=convolution.OUTPUT,
    axes=convolution.AXES,
    where=convolution.fits,
    options={
        **convolution.options(),
        "negative_slope": [0.01, 0.1, 0.5, 0.0, 1.5, -0.25],
        "inplace": [False, True],
    },
    flops=convolution.flops,
    examples=[
        case(C=3, F=6, H=16, W=16, KH=3, KW=3, bias=True),
        case(C=3, F=6, H=16, W=16, KH=3, KW=3, bias=True, stride=2, padding=1),
        case(F=1, H=16, W=16, KH=3, KW=3, bias=True, dilation=2, groups=6),
        case(C=3, F=6, H=16, W=16, KH=3, KW=3, bias=True, negative_slope=0.1, inplace=True),
        *[
            case(N=2, C=3, F=8, H=32, W=32, KH=3, KW=3, padding=1, bias=True, negative_slope=0.1, fill=fill)
            for fill in ("standard", "outlier")
        ],
        case(N=2, C=2, F=5, H=11, W=9, KH=3, KW=4, groups=3, padding="same", negative_slope=-0.25),
        case(N=2, C=70, F=66, H=5, W=5, bias=True, stride=(2, 1), padding=(0, 1)),
        case(H=1, W=1),
    ],
    sizes={str(n): case(C=3, F=6, H=n, W=n, KH=3, KW=3, bias=True) for n in (256, 1408, 4096)},
)
def fused_leaky_relu_conv2d(
    input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, negative_slope=0.01, inplace=False
):
    convolved = functional.conv2d(input, weight, bias, stride, padding, dilation, groups)
    return functional.leaky_relu(convolved, negative_slope, inplace)
