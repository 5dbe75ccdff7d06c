"""Convolution of images with learned filters, layer normalisation of each image, then SiLU.

    v = conv2d(x, conv_weight, conv_bias, conv_stride, conv_padding, conv_dilation, conv_groups)
    z[n, o, i, j] = (v[n, o, i, j] - mean[n]) / sqrt(variance[n] + ln_eps) * weight[o]
    output = z / (1 + exp(-z))

All is float32. Mean and variance are those of an image over all of its channels, rows and columns together, the
variance divided by their count. `weight`, the gain of the normalisation, is a vector with one number for each channel
of the result, or None for 1; upstream ignores it and passes None.
"""

import functools

from torch.nn import functional

from pytest_kernelbenchx import convolution, fills, task

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
    fill=dict.fromkeys(("x", "conv_weight"), fills.normal()),
    options={**convolution.options("conv_"), "ln_eps": (1e-5, 1e-3, 0.1, 10.0)},
    flops=convolution.flops,
    examples=[
        case(C=3, F=6, H=5, W=5, KW=3, conv_stride=2, conv_padding=1),
        *[
            case(N=2, C=3, F=8, H=32, W=32, KW=3, weight=weight, conv_bias=True, conv_padding=1, fill="both")
            for weight in (False, True)
        ],
        case(N=2, C=2, F=3, H=9, W=8, KW=4, weight=True, conv_groups=2, conv_padding="same", ln_eps=0.1),
        case(C=3, F=6, H=5, W=5, KW=3, conv_bias=True, conv_dilation=2),
    ],
    sizes={
        label: case(N=N, C=C, F=64, H=H, W=H, KW=3, weight=True, conv_bias=True)
        for label, N, C, H in (("32", 1, 8, 32), ("128", 4, 32, 128), ("512", 8, 64, 512))
    },
)
def fused_silu_layer_norm_conv2d(
    x, weight, conv_weight, conv_bias=None, conv_stride=1, conv_padding=0, conv_dilation=1, conv_groups=1, ln_eps=1e-5
):
    v = functional.conv2d(x, conv_weight, conv_bias, conv_stride, conv_padding, conv_dilation, conv_groups)
    z = functional.layer_norm(v, v.shape[1:], eps=ln_eps)
    return functional.silu(z if weight is None else z * weight[:, None, None])
