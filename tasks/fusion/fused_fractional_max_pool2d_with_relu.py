"""ReLU, then fractional max pooling of images: fractional_max_pool2d(relu(input), kernel_size, ...).

    output[n, c, i, j] = max over a < KH, b < KW of max(0, input[n, c, rows[i] + a, columns[j] + b])

`input` is float32 [N, C, H, W]; the result is [N, C, OH, OW], where (OH, OW) is `output_size`, one number or two, or
(floor(H * rh), floor(W * rw)) for an `output_ratio` of (rh, rw); one of the two is given. `kernel_size` is KH = KW or
(KH, KW). The windows are chosen at random, for each image and channel: rows[0] = 0, the last is H - KH, and the steps
between are floor(s) or ceil(s) with s = (H - KH) / (OH - 1), so that they are certain where s is a whole number; the
same holds for columns. With `return_indices` the result is a pair, the second int64: for every maximum its place in the
plane, row * W + column, that of any of several equal ones. Nothing is mutated.

Any choice of windows passes, at random or not; upstream asks for that of PyTorch's own stream of random numbers.
"""

import torch
from torch.nn import functional

from pytest_kernelbenchx import fractional_max_pool_properties, task

SIDES = (4, 5, 7, 8, 9, 13, 16, 17, 24, 32, 33)


def fits(H, W, kernel_size, output_ratio):
    """At least two windows in each direction, and no more than there is room for."""
    tall, wide = (kernel_size, kernel_size) if isinstance(kernel_size, int) else kernel_size
    high, broad = output_ratio or (0.5, 0.5)
    return 2 <= int(H * high) <= H - tall + 1 and 2 <= int(W * broad) <= W - wide + 1


def output_sizes(H, W, kernel_size, output_ratio):
    if output_ratio is not None:
        return [None]
    tall, wide = (kernel_size, kernel_size) if isinstance(kernel_size, int) else kernel_size
    most = H - tall + 1, W - wide + 1
    pairs = {(2, 2), (min(most[0], H // 2), min(most[1], W // 2)), (2, most[1]), (min(most[0], H // 3 + 1), 2)}
    return [*sorted(pairs), 2, min(*most, 16)]


@task(
    inputs={"input": "f32[N, C, H, W]"},
    output=["f32[...]", "i64[...] | None"],
    axes={"N": (1, 2, 4), "C": (3, 8, 11, 16), "H": SIDES, "W": SIDES},
    where=fits,
    options={
        "kernel_size": [1, 2, 3, (2, 3), (3, 1)],
        "output_ratio": [None, (0.5, 0.5), (0.6, 0.75), (0.7, 0.3)],
        "output_size": output_sizes,
        "return_indices": [False, True],
    },
    properties=fractional_max_pool_properties,
    examples=[
        dict(H=8, W=8, kernel_size=(2, 2), output_size=(4, 4)),
        dict(H=8, W=8, kernel_size=(2, 2), output_ratio=(0.5, 0.5)),
        dict(H=8, W=8, kernel_size=(2, 2), output_size=(4, 4), return_indices=True),
        dict(H=8, W=8, kernel_size=(3, 3), output_size=(4, 4)),
        *[
            dict(N=2, C=8, H=32, W=32, kernel_size=(2, 2), output_ratio=(0.5, 0.5), fill=fill)
            for fill in ("standard", "outlier")
        ],
        dict(N=2, C=8, H=32, W=32, kernel_size=3, output_ratio=(0.5, 0.5), return_indices=True),
        dict(N=1, C=16, H=33, W=17, kernel_size=(2, 3), output_size=(20, 7)),
        dict(C=3, H=5, W=6, kernel_size=1, output_size=(5, 6)),
    ],
    sizes={
        label: dict(N=16, C=3, H=side, W=side, kernel_size=3, output_ratio=(0.5, 0.5))
        for label, side in (("64", 64), ("512", 512), ("2k", 2048))
    },
    bytes=lambda N, C, H, W: 4 * N * C * (H * W + (H // 2) * (W // 2)),
)
def fused_fractional_max_pool2d_with_relu(
    input, kernel_size, output_size=None, output_ratio=None, return_indices=False
):
    pooling = functional.fractional_max_pool2d
    return pooling(torch.relu(input), kernel_size, output_size, output_ratio, return_indices)
