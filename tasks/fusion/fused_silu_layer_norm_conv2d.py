"""Convolution of images with learned filters, layer normalisation of each image, then SiLU.

    v[n, o, i, j] = conv_bias[o] + sum over c, k, l of conv_weight[o, c, k, l] *
        x[n, c, i * conv_stride + k * conv_dilation - conv_padding, j * conv_stride + l * conv_dilation - conv_padding]
    z[n, o, i, j] = (v[n, o, i, j] - mean[n]) / sqrt(variance[n] + ln_eps) * weight[o]
    output = z / (1 + exp(-z))

`x` is [N, G * C, height, width], `conv_weight` [G * F, C, KH, KW] and `conv_bias`, if given, [G * F], all float32;
outside `x` lie zeros. `conv_stride`, `conv_padding` and `conv_dilation` are an integer or a pair (vertical,
horizontal); `conv_padding` may be "valid" (none) or "same" (with stride 1: as much as keeps the size, the odd one at
the end). `conv_groups` is G: each of the G groups of C input channels is convolved with its own F filters. Mean and
variance are those of an image over all of its channels, rows and columns together, the variance divided by their count.
`weight`, the gain of the normalisation, is [G * F] or None for 1; upstream ignores it and passes None. Nothing is
mutated. The reference is computed in float32, never in TF32.
"""

import functools

from torch.nn import functional

from pytest_kernelbenchx import convolution, task

case = functools.partial(convolution.case, prefix="conv_", KH=3)


@task(
    inputs={
        "x": convolution.INPUT,
        "weight": convolution.BIAS,
        "conv_weight": convolution.WEIGHT,
        "conv_bias": convolution.BIAS,
    },
    output=convolution.OUTPUT,
    axes=convolution.AXES,
    where=convolution.sees,
    options={**convolution.options("conv_"), "ln_eps": (1e-5, 1e-3, 0.1, 10.0)},
    flops=convolution.flops,
    examples=[
        case(C=3, F=6, H=5, W=5, KW=3),
        case(C=3, F=6, H=5, W=5, KW=3, conv_bias=True),
        case(C=3, F=6, H=5, W=5, KW=3, conv_stride=2, conv_padding=1),
        case(C=3, F=6, H=5, W=5, KW=3, conv_dilation=2),
        *[
            case(N=2, C=3, F=8, H=32, W=32, KW=3, weight=weight, conv_bias=True, conv_padding=1, fill=fill)
            for weight in (False, True)
            for fill in ("standard", "outlier")
        ],
        case(N=2, C=2, F=3, H=9, W=8, KW=4, weight=True, conv_groups=2, conv_padding="same", ln_eps=0.1),
        case(H=3, W=3, KW=3, weight=True, conv_bias=True),
    ],
    sizes={
        "32": case(C=8, F=64, H=32, W=32, KW=3, weight=True, conv_bias=True),
        "128": case(N=4, C=32, F=64, H=128, W=128, KW=3, weight=True, conv_bias=True),
        "512": case(N=8, C=64, F=64, H=512, W=512, KW=3, weight=True, conv_bias=True),
    },
)
def fused_silu_layer_norm_conv2d(
    x,
    weight,
    conv_weight,
    conv_bias=None,
    conv_stride=1,
    conv_padding=0,
    conv_dilation=1,
    conv_groups=1,
    ln_eps=1e-5,
):
    v = functional.conv2d(x, conv_weight, conv_bias, conv_stride, conv_padding, conv_dilation, conv_groups)
    z = functional.layer_norm(v, v.shape[1:], eps=ln_eps)
    return functional.silu(z if weight is None else z * weight[:, None, None])
