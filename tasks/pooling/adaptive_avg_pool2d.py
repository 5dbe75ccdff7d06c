"""Average pooling of images to a given size.

    output[..., i, j] = mean of input[..., rows, columns]
    rows: from floor(i * H / OH) to before ceil((i + 1) * H / OH); columns likewise with W and OW

`input` is float32 [C, H, W] or [N, C, H, W]; the result is a new tensor [..., OH, OW]. `output_size` is (OH, OW), or
one integer for both; None in a pair keeps the length of the input. Windows may overlap, and OH and OW may be larger
than H and W. Nothing is mutated.
"""

import math

import torch

from pytest_kernelbenchx import Shapes, task


@task(
    inputs={"input": "f32[*S, H, W]"},
    output="f32[...]",
    axes={"S": Shapes(1, 2, longest=65)},
    options={
        "output_size": lambda H, W: (1, 2, (5, 7), (3, 1), (None, 3), (H // 2 + 1, None), (H, W // 3 + 1), (W, W))[
            : 8 if W <= 65 else 7
        ]
    },
    sizes={
        "256": dict(S=[1, 3], H=256, W=256, output_size=(128, 128)),
        "2k": dict(S=[1, 3], H=2048, W=2048, output_size=(1024, 1024)),
        "8k": dict(S=[1, 3], H=8192, W=8192, output_size=(4096, 4096)),
        "resnet": dict(S=[256, 2048], H=7, W=7, output_size=(1, 1)),
    },
    bytes=lambda S, H, W, output_size: 4 * math.prod(S) * (H * W + math.prod(output_size)),
    examples=[
        dict(S=[1, 64], H=8, W=9, output_size=5),
        dict(S=[1, 64], H=8, W=9, output_size=(5, 7)),
        dict(S=[64], H=8, W=9, output_size=5),
        dict(S=[64], H=8, W=9, output_size=(5, 7)),
        dict(S=[2, 3], H=33, W=65, output_size=(None, 4)),
        dict(S=[3], H=3, W=2, output_size=(7, 5)),
        dict(S=[2, 2], H=64, W=64, output_size=1, fill="outlier"),
        dict(S=[2, 2], H=40, W=40, output_size=(20, 20), fill="outlier"),
        dict(S=[1], H=1, W=1, output_size=1),
    ],
)
def adaptive_avg_pool2d(input, output_size):
    return torch.nn.functional.adaptive_avg_pool2d(input, output_size)
