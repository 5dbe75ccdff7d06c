"""Convolution of images with learned filters, max pooling, then ReLU: relu(max_pool2d(conv2d(input, weight, bias))).

    convolved[n, o, y, x] = bias[o] + sum over c, i, j of
        input[n, c, y * stride + i * dilation - padding, x * stride + j * dilation - padding] * weight[o, c, i, j]
    output[n, o, y, x] = max(0, max over i, j of
        convolved[n, o, y * pool_stride + i * pool_dilation - pool_padding, x * pool_stride + j * ... - ...])

`input` is [N, G * C, height, width], `weight` [G * F, C, KH, KW] and `bias`, if given, [G * F], all float32; outside
`input` lie zeros, outside `convolved` lies nothing (minus infinity). Stride, padding and dilation of the convolution
are the options that begin with `conv_`, its groups are G = `conv_groups`: each of the G groups of C input channels has
its own F filters. `pool_stride` is `pool_kernel_size` by default, `pool_padding` at most half of `pool_kernel_size`,
and with `pool_ceil_mode` a last window that begins inside the image or its left padding counts, too. All of them are an
integer or a pair (vertical, horizontal). `inplace` has no effect that can be seen: no input is mutated. The reference
is computed in float32, never in TF32.

The axes are those of the convolution's output, OH x OW; strides SY, SX, dilations DY, DX and paddings PY, PX are axes,
too, so that height and width of the input follow.
"""

from torch.nn import functional

from pytest_kernelbenchx import task

SIDES = (2, 3, 5, 8, 13, 16, 17, 31, 32, 33)
ONES = dict(SY=1, SX=1, DY=1, DX=1, PY=0, PX=0)


def pair(vertical, horizontal):
    """How an option may be written."""
    return [(vertical, horizontal), *([vertical] if vertical == horizontal else [])]


def fits(N, G, F, OH, OW, KH, KW, SY, SX, DY, DX, PY, PX, pool_kernel_size, pool_padding, pool_dilation):
    """The input is not empty, a pooling window fits into the convolved image, and that is no large one."""
    window = [max(pair) if isinstance(pair, tuple) else pair for pair in (pool_kernel_size, pool_dilation)]
    return (
        (OH - 1) * SY + (KH - 1) * DY >= 2 * PY
        and (OW - 1) * SX + (KW - 1) * DX >= 2 * PX
        and (window[0] - 1) * window[1] < min(OH, OW)
        and N * G * F * OH * OW <= 2**15
    )


def size(**axes):
    return dict(N=1, G=1, F=64, C=3, KH=3, KW=3, bias=True, pool_stride=2, **ONES, **axes)


def case(**axes):
    """An example: steps of 1 and no padding, where it does not say otherwise."""
    return {**ONES, **axes}


@task(
    inputs={
        "input": "f32[N, G * C, OH * SY - SY + KH * DY - DY + 1 - 2 * PY, OW * SX - SX + KW * DX - DX + 1 - 2 * PX]",
        "weight": "f32[G * F, C, KH, KW]",
        "bias": "f32[G * F] | None",
    },
    output="f32[...]",
    axes={
        "N": (1, 2, 3),
        "G": (1, 1, 2, 3),
        "F": (1, 2, 3, 5, 8, 17),
        "C": (1, *SIDES),
        "OH": SIDES,
        "OW": SIDES,
        **{"KH": (1, 2, 3, 5), "KW": (1, 2, 3, 4), "SY": (1, 2), "SX": (1, 1, 3), "DY": (1, 2), "DX": (1, 1, 2)},
        **{"PY": (0, 1, 2), "PX": (0, 1)},
    },
    where=fits,
    options={
        "conv_stride": lambda SY, SX: pair(SY, SX),
        "conv_padding": lambda PY, PX: pair(PY, PX),
        "conv_dilation": lambda DY, DX: pair(DY, DX),
        "conv_groups": lambda G: [G],
        "pool_kernel_size": [2, 3, (2, 3), (1, 2)],
        "pool_stride": [None, 1, 2, (2, 1)],
        "pool_padding": lambda pool_kernel_size: [0, (0, 1), 1] if pool_kernel_size in (2, 3) else [0, (0, 1)],
        "pool_dilation": [1, 1, 2, (1, 2)],
        "pool_ceil_mode": [False, True],
        "inplace": [False, True],
    },
    flops=lambda N, G, F, C, OH, OW, KH, KW: 2 * N * G * F * OH * OW * C * KH * KW,
    examples=[
        *[case(C=3, F=6, OH=6, OW=6, KH=3, KW=3, bias=bias) for bias in (False, True)],
        case(C=3, F=6, OH=4, OW=4, KH=3, KW=3, SY=2, SX=2, PY=1, PX=1, conv_stride=2, conv_padding=1),
        case(C=3, F=6, OH=6, OW=6, KH=3, KW=3, pool_kernel_size=3, pool_stride=2, pool_padding=1),
        *[
            case(
                N=2, C=3, F=8, OH=64, OW=64, KH=3, KW=3, PY=1, PX=1, conv_padding=1, bias=True, pool_stride=2, fill=fill
            )
            for fill in ("standard", "outlier")
        ],
        case(G=2, C=2, F=3, OH=9, OW=8, KH=2, conv_groups=2, pool_dilation=2, pool_ceil_mode=True, inplace=True),
        case(
            C=4, F=5, OH=5, OW=6, KH=3, KW=3, DY=2, DX=2, conv_dilation=2, pool_kernel_size=(2, 3), pool_stride=(2, 1)
        ),
    ],
    sizes={"32": size(OH=32, OW=32), "512": size(OH=512, OW=512), "2k": size(OH=2048, OW=2048)},
)
def fused_relu_max_pool2d_conv2d(
    input,
    weight,
    bias=None,
    conv_stride=1,
    conv_padding=0,
    conv_dilation=1,
    conv_groups=1,
    pool_kernel_size=2,
    pool_stride=None,
    pool_padding=0,
    pool_dilation=1,
    pool_ceil_mode=False,
    inplace=False,
):
    convolved = functional.conv2d(input, weight, bias, conv_stride, conv_padding, conv_dilation, conv_groups)
    pooling = (pool_kernel_size, pool_stride, pool_padding, pool_dilation, pool_ceil_mode)
    return functional.relu(functional.max_pool2d(convolved, *pooling))
