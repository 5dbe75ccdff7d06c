"""Convolution of images with learned filters, batch normalisation, then ReLU.

    z = conv2d(input, weight, bias, stride, padding, dilation, groups)
    output[n, o, y, x] = max(0, (z[n, o, y, x] - mean[o]) / sqrt(var[o] + eps) * bn_weight[o] + bn_bias[o])

All is float32. `bias`, `bn_weight` and `bn_bias` may each be left out (0, 1 and 0), `running_mean` and `running_var`
are always given. With `training=False` they are mean and var; with `training=True` mean and var are those of z over n,
y and x, the variance divided by the count (at least 2), and the running ones change in place, whatever their strides: r
becomes (1 - momentum) * r + momentum * new, the new variance divided by the count - 1. `inplace` lets ReLU overwrite
what it is given and has no effect that can be seen.
"""

from torch.nn import functional

from pytest_kernelbenchx import convolution, fills, task
from pytest_kernelbenchx.convolution import case

RUNNING = dict.fromkeys(("running_mean", "running_var"), "f32[G * F]")
AFFINE = dict.fromkeys(("bn_weight", "bn_bias"), convolution.BIAS)
ALL = dict(bias=True, bn_weight=True, bn_bias=True)


@task(
    inputs={**convolution.INPUTS, **RUNNING, **AFFINE},
    output=convolution.OUTPUT,
    axes={**convolution.AXES, "OW": convolution.SIDES[1:]},
    where=convolution.sees,
    fill={**convolution.VARIED, "running_mean": fills.normal(0.5), "running_var": fills.positive()},
    options={**convolution.options(), "momentum": [0.1, 0.2, 0.0, 1.0], "eps": [1e-5, 1e-3, 0.5]},
    mutates=tuple(RUNNING),
    flops=convolution.flops,
    examples=[
        case(C=2, F=5, H=11, W=9, KH=3, KW=4, groups=3, padding="same", **ALL, eps=0.1, inplace=True),
        case(N=4, C=3, F=6, H=16, W=16, KH=3, KW=3, padding=1, stride=2, running_mean="zeros", running_var="ones"),
        case(N=2, C=3, F=8, H=32, W=32, KH=3, KW=3, padding=1, **ALL, training=True, fill="both"),
        case(N=3, C=7, F=66, H=5, W=4, stride=(2, 1), padding=(0, 1), **ALL, training=True, momentum=0.3),
        case(N=2, C=2, F=3, H=71, W=67, KH=2, KW=2, dilation=2, training=True),
        case(H=1, W=1, **ALL),
    ],
    sizes={
        label: case(C=C, F=2 * C, H=H, W=H, KH=3, KW=3, padding=1, bn_weight=True, bn_bias=True)
        for label, C, H in (("32", 64, 32), ("128", 256, 128), ("256", 512, 256))
    },
)
def fused_relu_batch_norm_conv2d(
    input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1,
    running_mean=None, running_var=None, bn_weight=None, bn_bias=None, training=False, momentum=0.1, eps=1e-5,
    inplace=False,
):  # fmt: skip
    convolved = functional.conv2d(input, weight, bias, stride, padding, dilation, groups)
    y = functional.batch_norm(convolved, running_mean, running_var, bn_weight, bn_bias, training, momentum, eps)
    return functional.relu(y, inplace)
