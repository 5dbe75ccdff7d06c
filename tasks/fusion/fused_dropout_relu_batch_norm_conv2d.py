"""Convolution of images with learned filters, batch normalisation, ReLU, then dropout.

    v[n, o, y, x] = bias[o] + sum over c, i, j of
        input[n, c, y * stride + i * dilation - padding, x * stride + j * dilation - padding] * weight[o, c, i, j]
    output = dropout(max(0, (v - mean) / sqrt(variance + 1e-5)), p, training)

`input` is [N, G * C, height, width], `weight` [G * F, C, KH, KW] and `bias`, if given, [G * F], all float32; outside
`input` lie zeros. `stride`, `padding` and `dilation` are an integer or a pair (vertical, horizontal); `padding` may be
"valid" (none) or "same" (with stride 1: as much as keeps the size, the odd one at the end). `groups` is G: each of the
G groups of C input channels is convolved with its own F filters. Mean and variance are those of the batch for each
output channel, the variance divided by the count of its values, of which there are two at least; there are no running
statistics. So `bias` cancels out. In training each element is, independently, set to 0 with probability `p` or else
multiplied by 1 / (1 - p); with `training=False`, where upstream raises, dropout does nothing. `inplace` has no effect
that can be seen: no input is mutated. The reference is computed in float32, never in TF32.

Random numbers need not be PyTorch's, but they must differ after torch.manual_seed with another seed; upstream asks for
PyTorch's own stream.
"""

from torch.nn import functional

from pytest_kernelbenchx import Dropout, convolution, task

case = convolution.case


@task(
    inputs=convolution.INPUTS,
    output=convolution.OUTPUT,
    axes={**convolution.AXES, "OH": convolution.SIDES[2:]},  # a channel has three values and more
    where=convolution.sees,
    options={
        **convolution.options(),
        "p": (0.5, 0.1, 0.3, 0.0),
        "training": (True, False),
        "inplace": (False, True),
    },
    random=Dropout(),
    flops=convolution.flops,
    examples=[
        case(C=3, F=6, H=8, W=8, KH=3, KW=3, bias=True),
        case(C=3, F=6, H=8, W=8, KH=3, KW=3, bias=True, stride=2, padding=1),
        case(C=3, F=6, H=8, W=8, KH=3, KW=3, bias=True, p=0.3),
        case(H=8, W=8, KH=3, KW=3, bias=True, groups=6, training=False),
        *[
            case(N=2, C=3, F=8, H=32, W=32, KH=3, KW=3, bias=True, padding=1, p=0.1, training=training, fill=fill)
            for training in (True, False)
            for fill in ("standard", "outlier")
        ],
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
