"""Distance between images that were pooled to a given size: norm(pooled(x1) - pooled(x2)) + eps, one for each image.

    pooled(x)[n, c, i, j] = mean of x[n, c, rows, columns]
    rows: from floor(i * H / OH) to before ceil((i + 1) * H / OH); columns likewise with W and OW
    output[n] = (sum over c, i, j of |pooled(x1)[n, c, i, j] - pooled(x2)[n, c, i, j]| ** p) ** (1 / p) + eps

`x1` and `x2` are float32 [N, C, H, W]; the result is [N], or [N, 1, 1, 1] with `keepdim=True`. `output_size` is
(OH, OW), or one integer for both. Windows may overlap, and OH and OW may be larger than H and W. `p` is a positive
number. `eps` is added to the distance (torch.nn.functional.pairwise_distance adds it to the differences).
"""

import torch
from torch.nn.functional import adaptive_avg_pool2d

from pytest_kernelbenchx import task


@task(
    inputs={"x1": "f32[N, C, H, W]", "x2": "f32[N, C, H, W]"},
    output="f32[...]",
    axes={"N": (1, 2, 5), "C": (1, 2, 3, 16, 17, 65), **dict.fromkeys("HW", (1, 2, 3, 5, 8, 16, 17, 31, 33, 65))},
    options={
        "output_size": lambda H, W: (1, 2, (5, 7), (3, 1), (1, 4), (H // 2 + 1, 2), (H, W // 3 + 1), (W, 3)),
        "p": [2.0, 1.0, 3.0, 1.5],
        "eps": [1e-6, 0.5, 2.0, 0.0],
    },
    bytes=lambda N, C, H, W: 8 * N * C * H * W + 4 * N,
    examples=[
        dict(N=3, C=5, H=9, W=7, output_size=1, x2="zeros"),
        dict(N=2, C=3, H=32, W=32, output_size=(8, 8), p=1.0),
        dict(N=4, C=8, H=64, W=64, output_size=(8, 8), keepdim=True, fill="both"),
        dict(N=2, C=3, H=33, W=65, output_size=(7, 4), p=3.0, eps=0.25),
        dict(N=2, x1="ones", x2="ones", output_size=1, eps=0.125),
        dict(N=2, C=3, H=3, W=2, output_size=(7, 5), p=2.5),
    ],
    sizes={str(n): dict(N=16, C=3, H=n, W=n, output_size=(n // 2, n // 2)) for n in (16, 512, 2048)},
)
def fused_pairwise_distance_adaptive_avg_pool2d(x1, x2, output_size, p=2.0, eps=1e-06, keepdim=False):
    difference = adaptive_avg_pool2d(x1, output_size) - adaptive_avg_pool2d(x2, output_size)
    return torch.linalg.vector_norm(difference, p, dim=(1, 2, 3), keepdim=keepdim) + eps
