"""Transposed convolution of images: every pixel adds its multiple of a filter to the result.

    output[n, o, y, x] = bias[o] + sum over c, i, j, h, w of input[n, c, h, w] * weight[c, o, i, j]
        where y = h * stride + i * dilation - padding and x = w * stride + j * dilation - padding

`input` is [N, G * C, H, W], `weight` [G * C, F, KH, KW] (input channels first) and `bias`, if given, [G * F], all
float32. The result, [N, G * F, height, width], has height (H - 1) * stride - 2 * padding + dilation * (KH - 1) + 1 +
output_padding, and the width accordingly: padding cuts on all sides, output_padding adds rows and columns at the end.
`stride`, `padding`, `output_padding` and `dilation` are an integer or a pair (vertical, horizontal); output_padding is
less than stride or than dilation. `groups` is G: each group of C input channels is convolved with its own filters, to
its own F channels. In the signature, `groups` comes before `dilation`.
"""

import torch

from pytest_kernelbenchx import convolution, task

TWICE = dict(KH=3, KW=3, stride=2, padding=1, output_padding=1, bias=True)


def pair(value):
    return (value, value) if isinstance(value, int) else value


def beyond(stride, dilation):
    """Rows and columns to add: fewer than a step."""
    steps = [max(both) for both in zip(pair(stride), pair(dilation), strict=True)]
    return [p for p in (0, 1, 2, (1, 0), (0, 1)) if pair(p)[0] < steps[0] and pair(p)[1] < steps[1]]


def paddings(H, W, KH, KW, stride, output_padding, dilation):
    """Paddings that leave some of the result."""
    each = zip((H, W), (KH, KW), pair(stride), pair(output_padding), pair(dilation), strict=True)
    least = [((n - 1) * step + apart * (k - 1) + more) // 2 for n, k, step, more, apart in each]
    return [p for p in (0, 1, 2, (1, 0), (0, 3), (2, 1)) if all(a <= b for a, b in zip(pair(p), least, strict=True))]


@task(
    inputs={"input": "f32[N, G * C, H, W]", "weight": "f32[G * C, F, KH, KW]", "bias": "f32[G * F] | None"},
    output="f32[...]",
    axes={
        **{name: convolution.AXES[name] for name in ("N", "G", "F", "C", "KH", "KW")},
        **dict.fromkeys("HW", convolution.SIDES),
    },
    where=lambda N, G, F, H, W: N * G * F * H * W <= 2**13,
    options={
        "stride": (1, 2, 3, (2, 1), (1, 3)),
        "dilation": (1, 1, 2, (2, 1)),
        "output_padding": beyond,
        "padding": paddings,
        "groups": lambda G: (G,),
    },
    flops=lambda N, G, C, F, H, W, KH, KW: {"tensor": 2 * N * G * C * F * H * W * KH * KW},
    examples=[
        dict(N=2, G=2, C=2, F=2, H=8, W=8, KH=3, KW=3, groups=2),
        dict(TWICE, N=2, C=8, F=6, H=16, W=16, fill="both"),
        dict(N=1, C=4, F=6, H=8, W=8, KH=1, KW=1, stride=3, bias=True),
        dict(C=70, F=66, H=3, W=5, KH=2, KW=2, dilation=3, output_padding=2),
        dict(H=3, W=3, KH=2, KW=2, output_padding=1, raises=RuntimeError),
        dict(C=2, F=3, H=7, W=5, KH=2, KW=3, stride=(3, 2), padding=(0, 1), output_padding=(2, 0), dilation=(1, 2)),
    ],
    sizes={str(n): dict(TWICE, N=N, G=1, C=256, F=128, H=n, W=n) for n, N in ((16, 2), (32, 16), (64, 32))},
)
def conv_transpose2d(input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
    return torch.nn.functional.conv_transpose2d(input, weight, bias, stride, padding, output_padding, groups, dilation)
