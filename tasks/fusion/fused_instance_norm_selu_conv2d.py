"""Convolution of images with learned filters, SELU, then instance normalisation: (s - mean) / sqrt(var + eps).

    z = conv2d(input, weight, bias, stride, padding, dilation, groups)
    s = 1.0507009873554805 * z where z > 0, 1.0507009873554805 * 1.6732632423543772 * (exp(z) - 1) elsewhere

All are float32. Mean and variance (divided by the count) are those of one channel of one image, over all its places (at
least two). There are no weights and no running statistics to pass, so `num_features` (None or the number of channels),
`momentum`, `affine` and `track_running_stats` have no effect.
"""

from torch.nn import functional

from pytest_kernelbenchx import convolution, task

AT_LEAST_TWO_VALUES = dict(axes={**convolution.AXES, "OW": convolution.SIDES[1:]}, where=convolution.sees)
case = convolution.case


@task(
    **convolution.TASK | AT_LEAST_TWO_VALUES,
    fill=convolution.VARIED,
    options={
        **convolution.options(),
        "num_features": lambda G, F: [None, G * F],
        "eps": [1e-5, 1e-3, 0.5],
        "momentum": [0.1, 0.9],
    },
    examples=[
        case(C=3, F=3, H=5, W=5, KH=3, KW=3, stride=2, padding=1),
        case(N=2, C=3, F=8, H=32, W=32, KH=3, KW=3, padding=1, bias=True, fill="both"),
        case(N=2, C=2, F=5, H=11, W=9, KH=3, KW=4, groups=3, padding="same", eps=0.1, affine=True),
        case(C=2, F=3, H=17, W=1, KH=2, bias=True, dilation=3, num_features=3, track_running_stats=True, momentum=0.5),
        case(N=2, C=2, F=2, H=71, W=67, KH=2, KW=2, bias=True),
    ],
    sizes={str(n): case(N=N, C=8 * N, F=64, H=n, W=n, KH=3, KW=3, bias=True) for n, N in ((32, 1), (128, 4), (256, 8))},
)
def fused_instance_norm_selu_conv2d(
    input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1,
    num_features=None, eps=1e-5, momentum=0.1, affine=False, track_running_stats=False,
):  # fmt: skip
    convolved = functional.conv2d(input, weight, bias, stride, padding, dilation, groups)
    return functional.instance_norm(functional.selu(convolved), eps=eps)
