"""ReLU, then fractional max pooling of images: fractional_max_pool2d(relu(input), kernel_size, ...).

    output[n, c, i, j] = max over a < KH, b < KW of max(0, input[n, c, rows[i] + a, columns[j] + b])

`input` is float32 [N, C, H, W]; the result is [N, C, OH, OW], where (OH, OW) is `output_size`, one number or two, or
(floor(H * rh), floor(W * rw)) for an `output_ratio` of (rh, rw); one of the two is given. `kernel_size` is KH = KW or
(KH, KW). The windows are chosen at random, for each image and channel: rows[0] = 0, the last is H - KH, and the steps
between are floor(s) or ceil(s) with s = (H - KH) / (OH - 1), so that they are certain where s is a whole number; the
same holds for columns. With `return_indices` the result is a pair, the second int64: for every maximum its place in the
plane, row * W + column, that of any of several equal ones. Any choice of windows passes, at random or not; upstream
asks for that of PyTorch's own stream of random numbers.
"""

import torch
from torch.nn.functional import fractional_max_pool2d

from pytest_kernelbenchx import fractional_max_pool_properties, task

SIDES = (7, 8, 9, 13, 16, 17, 24, 32, 33)


def output_sizes(H, W, output_ratio):
    """From two windows in a direction to as many as there is room for, where they are 3 long."""
    pairs = [(2, 2), (H // 2, W // 2), (2, W - 2), (H // 3 + 1, 2)]
    return [None] if output_ratio else [*pairs, 2, min(H, W) - 2]


@task(
    inputs={"input": "f32[N, C, H, W]"},
    output=["f32[...]", "i64[...] | None"],
    axes={"N": (1, 2, 4), "C": (3, 8, 11, 16), "H": SIDES, "W": SIDES},
    options={
        "kernel_size": [1, 2, 3, (2, 3), (3, 1)],
        "output_ratio": [None, (0.5, 0.5), (0.6, 0.75), (0.7, 0.3)],
        "output_size": output_sizes,
    },
    properties=fractional_max_pool_properties,
    examples=[
        dict(H=8, W=8, kernel_size=(2, 2), output_size=(4, 4), return_indices=True),
        dict(C=5, H=5, W=4, kernel_size=3, output_size=2),
        dict(N=2, C=8, H=32, W=32, kernel_size=(2, 2), output_ratio=(0.5, 0.5), fill="both"),
        dict(C=16, H=33, W=17, kernel_size=(2, 3), output_size=(20, 7), return_indices=True),
        dict(C=3, H=5, W=6, kernel_size=1, output_size=(5, 6)),
    ],
    sizes={str(n): dict(N=16, C=3, H=n, W=n, kernel_size=3, output_ratio=(0.5, 0.5)) for n in (64, 512, 2048)},
)
def fused_fractional_max_pool2d_with_relu(
    input, kernel_size, output_size=None, output_ratio=None, return_indices=False
):
    return fractional_max_pool2d(torch.relu(input), kernel_size, output_size, output_ratio, return_indices)
