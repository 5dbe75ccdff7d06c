"""Convolution of images with learned filters, batch normalisation, ReLU, then dropout.

    v = conv2d(input, weight, bias, stride, padding, dilation, groups)
    output = dropout(max(0, (v - mean) / sqrt(variance + 1e-5)), p, training)

All are float32. Mean and variance are those of the batch for each output channel, the variance divided by the count of
its values, of which there are two at least; there are no running statistics. So `bias` cancels out. `inplace` has no
effect that can be seen. With `training=False` upstream raises.
"""

from torch.nn import functional

from pytest_kernelbenchx import Dropout, convolution, task

AT_LEAST_THREE_VALUES = dict(axes={**convolution.AXES, "OH": convolution.SIDES[2:]}, where=convolution.sees)
case = convolution.case


@task(
    **convolution.TASK | AT_LEAST_THREE_VALUES,
    fill=convolution.VARIED,
    options=convolution.options(),
    random=Dropout(),
    examples=[
        case(N=2, C=3, F=8, H=32, W=32, KH=3, KW=3, bias=True, padding=1, p=0.1, fill="both"),
        case(N=2, C=3, F=8, H=32, W=32, KH=3, KW=3, bias=True, padding=1, training=False, fill="both"),
        case(H=8, W=8, KH=3, KW=3, bias=True, groups=6, stride=2, training=False),
        case(C=2, F=3, H=9, W=8, KH=3, KW=4, dilation=(1, 2), padding="same", inplace=True, training=False),
        case(C=3, F=2, H=7, W=6, KH=3, KW=3, p=1.0),
    ],
    sizes={str(n): case(C=3, F=64, H=n, W=n, KH=3, KW=3, bias=True) for n in (32, 512, 2048)},
)
def fused_dropout_relu_batch_norm_conv2d(
    input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, p=0.5, training=True, inplace=False
):
    x = functional.conv2d(input, weight, bias, stride, padding, dilation, groups)
    x = functional.relu(functional.batch_norm(x, None, None, training=True), inplace)
    return functional.dropout(x, p, training, inplace)
