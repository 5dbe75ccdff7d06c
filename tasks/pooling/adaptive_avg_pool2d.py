"""Average pooling of images to a given size.

    output[..., i, j] = mean of input[..., rows, columns]
    rows: from floor(i * H / OH) to before ceil((i + 1) * H / OH); columns likewise with W and OW

`input` is float32 [C, H, W] or [N, C, H, W]; the result is [..., OH, OW]. `output_size` is (OH, OW), or one integer for
both; None in a pair keeps the length of the input. Windows may overlap, and OH and OW may be larger than H and W.
"""

import torch

from pytest_kernelbenchx import Shapes, task


def sizes(H, W):
    """A number, pairs, pairs with None, larger ones; (W, W) where it is small."""
    few = [1, 2, (5, 7), (3, 1), (None, 3), (H // 2 + 1, None), (H, W // 3 + 1)]
    return few + [(W, W)] * (W <= 65)


@task(
    inputs={"input": "f32[*S, H, W]"},
    output="f32[...]",
    axes={"S": Shapes(1, 2, longest=65)},
    options={"output_size": sizes},
    examples=[
        *[dict(S=S, H=8, W=9, output_size=size) for S in ([1, 64], [64]) for size in (5, (5, 7))],
        dict(S=[2, 3], H=33, W=65, output_size=(None, 4)),
        dict(S=[3], H=3, W=2, output_size=(7, 5)),
        *[dict(S=[2, 2], H=64, W=40, output_size=size, fill="outlier") for size in (1, (20, 20))],
    ],
    sizes={
        **{str(n): dict(S=[1, 3], H=n, W=n, output_size=(n // 2, n // 2)) for n in (256, 8192)},
        "resnet": dict(S=[256, 2048], H=7, W=7, output_size=(1, 1)),
    },
)
def adaptive_avg_pool2d(input, output_size):
    return torch.nn.functional.adaptive_avg_pool2d(input, output_size)
