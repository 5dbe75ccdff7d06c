"""Convolution of images with learned filters, then pixel shuffle: channels become pixels.

    shuffled[n, k, y * r + a, x * r + b] = convolved[n, k * r ** 2 + a * r + b, y, x]      r = upscale_factor
    convolved = conv2d(input, weight, bias, stride, padding, dilation, groups)

All is float32. `convolved` is [N, O, OH, OW] with O a multiple of r ** 2 and of `groups`, the result [N, O / r ** 2,
r * OH, r * OW].
"""

import torch

from pytest_kernelbenchx import convolution, task


def case(upscale_factor=2, **given):
    """An example or a size; R is the axis that says what `upscale_factor` is."""
    return convolution.case(R=upscale_factor, upscale_factor=upscale_factor, **given)


@task(
    inputs={"input": convolution.INPUT, "weight": "f32[G * F * R * R, C, KH, KW]", "bias": "f32[G * F * R * R] | None"},
    output="f32[N, G * F, OH * R, OW * R]",
    axes={**convolution.AXES, "F": (1, 2, 3, 5, 8, 16, 17), "R": (1, 2, 3, 4)},
    where=convolution.fits,
    options={**convolution.options(), "upscale_factor": lambda R: [R]},
    flops=lambda R, N, G, F, C, OH, OW, KH, KW: convolution.flops(N, G, F * R * R, C, OH, OW, KH, KW),
    examples=[
        case(C=4, F=4, H=8, W=8, KH=3, KW=3, padding=1),
        case(N=2, C=3, F=8, H=16, W=16, KH=3, KW=3, padding=1, bias=True, fill="both"),
        case(1, C=70, F=5, H=9, W=8),
        case(C=2, H=7, W=6, KH=3, KW=4, padding="same"),
        case(3, C=3, F=2, H=9, W=8, KH=3, KW=2, stride=2, dilation=(2, 1), groups=2, bias=True),
    ],
    sizes={str(n): case(N=16, F=3, C=3, H=n, W=n, KH=3, KW=3, bias=True) for n in (16, 256, 1024)},
)
def fused_pixel_shuffle_conv2d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, upscale_factor=2):
    convolved = torch.nn.functional.conv2d(input, weight, bias, stride, padding, dilation, groups)
    return torch.nn.functional.pixel_shuffle(convolved, upscale_factor)
