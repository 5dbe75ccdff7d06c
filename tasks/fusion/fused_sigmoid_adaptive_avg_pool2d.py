"""Average pooling of images to a given size, then the logistic function: sigmoid(adaptive_avg_pool2d(input)).

    output[n, c, i, j] = 1 / (1 + exp(-mean of input[n, c, rows, columns]))
    rows: from floor(i * H / OH) to before ceil((i + 1) * H / OH); columns likewise with W and OW

`input` is float32 [N, C, H, W]; the result is [N, C, OH, OW]. `output_size` is (OH, OW), or one integer for both.
Windows may overlap, and OH and OW may be larger than H and W.
"""

import torch

from pytest_kernelbenchx import task


@task(
    inputs={"input": "f32[N, C, H, W]"},
    output="f32[...]",
    axes={"N": (1, 2, 5), "C": (1, 2, 3, 16, 17, 65), **dict.fromkeys("HW", (1, 2, 3, 5, 8, 16, 17, 31, 33, 65))},
    options={"output_size": lambda H, W: (1, 2, (5, 7), (3, 1), (1, 4), (H // 2 + 1, 2), (H, W // 3 + 1), (W, 3))},
    bytes=lambda N, C, H, W, output_size: 4 * N * C * (H * W + torch.Size(output_size).numel()),
    examples=[
        dict(C=3, H=8, W=8, output_size=4),
        *[dict(N=4, C=8, H=32, W=32, output_size=size, fill="both") for size in (4, (8, 8), (1, 1))],
        dict(N=2, C=3, H=33, W=65, output_size=(7, 4)),
        dict(C=3, H=3, W=2, output_size=(7, 5)),
    ],
    sizes={
        "16": dict(N=1, C=1, H=16, W=16, output_size=(1, 1)),
        "resnet": dict(N=256, C=2048, H=7, W=7, output_size=(1, 1)),
        "2k": dict(N=2, C=8, H=2048, W=2048, output_size=(1024, 1024)),
    },
)
def fused_sigmoid_adaptive_avg_pool2d(input, output_size):
    return torch.sigmoid(torch.nn.functional.adaptive_avg_pool2d(input, output_size))
