"""Convolution of images with learned filters, then GELU: gelu(conv2d(input, weight, bias, ...), approximate).

    z[n, o, y, x] = bias[o] + sum over c, i, j of
        input[n, c, y * stride + i * dilation - padding, x * stride + j * dilation - padding] * weight[o, c, i, j]

`input` is [N, G * C, height, width], `weight` [G * F, C, KH, KW] and `bias`, if given, [G * F], all float32; outside
`input` lie zeros. `stride`, `padding` and `dilation` are an integer or a pair (vertical, horizontal); `padding` may be
"valid" (none) or "same" (with stride 1: as much as keeps the size, the odd one at the end). `groups` is G: each of the
G groups of C input channels is convolved with its own F filters. GELU of z is z * Phi(z), Phi the standard normal
distribution function; with `approximate="tanh"` it is z / 2 * (1 + tanh(sqrt(2 / pi) * (z + 0.044715 * z ** 3))). With
`out`, which upstream never passes, the result is written there, whatever its strides, and it is returned. No input is
mutated. Another `approximate` raises RuntimeError. The reference is computed in float32, never in TF32.
"""

from torch.nn import functional

from pytest_kernelbenchx import convolution, task

case = convolution.case


@task(
    inputs=convolution.INPUTS,
    output=convolution.OUTPUT,
    axes=convolution.AXES,
    where=convolution.fits,
    options={**convolution.options(), "approximate": ["none", "tanh"]},
    flops=convolution.flops,
    examples=[
        case(C=3, F=2, H=5, W=5, KH=3, KW=3),
        case(C=3, F=2, H=5, W=5, KH=3, KW=3, bias=True),
        case(C=3, F=2, H=8, W=8, KH=3, KW=3, stride=2, padding=1),
        case(F=1, H=10, W=10, KH=3, KW=3, dilation=2, groups=4),
        *[
            case(N=2, C=3, F=8, H=16, W=16, KH=3, KW=3, padding=1, bias=True, approximate=approximate, fill=fill)
            for approximate in ("tanh", "none")
            for fill in ("standard", "outlier")
        ],
        case(N=2, C=2, F=5, H=11, W=9, KH=3, KW=4, groups=3, padding="same", approximate="tanh", out=True),
        case(N=2, C=7, F=66, H=5, W=5, bias=True, stride=(2, 1), padding=(0, 1)),
        case(H=1, W=1),
        case(H=1, W=1, approximate="erf", raises=RuntimeError),
    ],
    sizes={str(n): case(N=16, C=16, F=32, H=n, W=n, KH=3, KW=3, padding=1) for n in (16, 128, 512)},
)
def fused_gelu_conv2d(
    input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, approximate="none", out=None
):
    convolved = functional.conv2d(input, weight, bias, stride, padding, dilation, groups)
    return functional.gelu(convolved, approximate=approximate)
