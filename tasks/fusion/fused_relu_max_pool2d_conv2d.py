"""Convolution of images with learned filters, max pooling, then ReLU: relu(max_pool2d(conv2d(input, weight, bias))).

    output[n, o, y, x] = max(0, max over i, j of
        convolved[n, o, y * pool_stride + i * pool_dilation - pool_padding, x * pool_stride + j * ... - ...])

All is float32. Stride, padding, dilation and groups of the convolution are the options that begin with `conv_`. Outside
`convolved` lies nothing (minus infinity). `pool_stride` is `pool_kernel_size` by default, `pool_padding` at most half
of `pool_kernel_size`, and with `pool_ceil_mode` a last window that begins inside the image or its left padding counts,
too; all of them are an integer or a pair (vertical, horizontal). `inplace` has no effect that can be seen.
"""

from torch.nn import functional

from pytest_kernelbenchx import convolution, task

SIDES = (5, 8, 13, 16, 17, 31, 32, 33)  # every pooling window fits
AXES = {**convolution.AXES, "OH": SIDES, "OW": SIDES}


def filters(N, G, OH, OW):
    return [F for F in (1, 2, 3, 5, 8, 16, 17) if N * G * F * OH * OW <= 2**15]


def case(KH=3, KW=3, **given):
    return convolution.case(KH=KH, KW=KW, prefix="conv_", **given)


@task(
    inputs=convolution.INPUTS,
    output="f32[...]",
    axes={**AXES, "F": filters},
    where=convolution.fits,
    options={
        **convolution.options("conv_"),
        "pool_kernel_size": [2, 3, (2, 3), (1, 2)],
        "pool_stride": [None, 1, 2, (2, 1)],
        "pool_padding": lambda pool_kernel_size: [0, (0, 1), 1] if pool_kernel_size in (2, 3) else [0, (0, 1)],
        "pool_dilation": [1, 1, 2, (1, 2)],
    },
    flops=convolution.flops,
    examples=[
        case(C=3, F=6, H=8, W=8, conv_stride=2, conv_padding=1),
        case(C=3, F=6, H=8, W=8, pool_kernel_size=3, pool_stride=2, pool_padding=1),
        case(N=2, C=3, F=8, H=64, W=64, conv_padding=1, bias=True, pool_stride=2, fill="both"),
        case(C=4, F=5, H=9, W=10, conv_dilation=2, pool_kernel_size=(2, 3), pool_stride=(2, 1)),
        case(C=2, F=3, H=2, W=3, KH=2, KW=4, conv_padding="same"),
        case(C=2, F=3, H=10, W=8, KH=2, KW=1, conv_groups=2, pool_dilation=2, pool_ceil_mode=True, inplace=True),
    ],
    sizes={str(n): case(C=3, F=64, H=n, W=n, conv_padding=1, bias=True, pool_stride=2) for n in (32, 512, 2048)},
)
def fused_relu_max_pool2d_conv2d(
    input, weight, bias=None, conv_stride=1, conv_padding=0, conv_dilation=1, conv_groups=1,
    pool_kernel_size=2, pool_stride=None, pool_padding=0, pool_dilation=1, pool_ceil_mode=False, inplace=False,
):  # fmt: skip
    convolved = functional.conv2d(input, weight, bias, conv_stride, conv_padding, conv_dilation, conv_groups)
    pooling = (pool_kernel_size, pool_stride, pool_padding, pool_dilation, pool_ceil_mode)
    return functional.relu(functional.max_pool2d(convolved, *pooling))
