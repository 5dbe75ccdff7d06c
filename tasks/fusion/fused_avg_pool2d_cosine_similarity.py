"""Cosine similarity of two batches of images, taken over the channels, then average pooling of the map of them.

    similarity[n, 0, y, x] = sum over c of x1 * x2 / (max(|x1|, eps) * max(|x2|, eps)),  |.| the norm over c
    output[n, 0, i, j] = 1 / kernel_size ** 2 * sum over a, b < kernel_size of
        similarity[n, 0, i * stride + a - padding, j * stride + b - padding]

The images are [N, C, H, W] float32; the result is [N, 1, OH, OW] with OH = (H + 2 * padding - kernel_size) // stride +
1 and OW likewise. Outside the map lie zeros, which count in the average. `stride` is `kernel_size` by default and
`padding` at most half of `kernel_size`.
"""

from torch.nn import functional

from pytest_kernelbenchx import task

SIDES = (1, 2, 3, 5, 8, 13, 16, 17, 31, 32, 33, 65)


@task(
    inputs={"x1": "f32[N, C, H, W]", "x2": "f32[N, C, H, W]"},
    output="f32[...]",
    axes={"N": (1, 2, 3, 5), "C": (1, *SIDES), "H": SIDES, "W": SIDES},
    options={
        "kernel_size": lambda H, W: range(1, min(H, W, 5) + 1),
        "stride": [None, 1, 2, 3],
        "padding": lambda kernel_size: range(kernel_size // 2 + 1),
        "eps": [1e-8, 1e-6, 0.5, 3.0],
    },
    flops=lambda N, C, H, W: 6 * N * C * H * W,
    examples=[
        dict(N=5, C=16, H=32, W=32, kernel_size=2, stride=2, fill="both"),
        dict(N=2, C=129, H=7, W=5, kernel_size=3, stride=1, padding=1),
        dict(C=5, H=4, W=4, kernel_size=2, x2="zeros"),
    ],
    sizes={str(n): dict(N=16, C=64, H=n, W=n, kernel_size=3, stride=2, padding=1) for n in (16, 128, 256)},
)
def fused_avg_pool2d_cosine_similarity(x1, x2, kernel_size, stride=None, padding=0, eps=1e-8):
    similarity = functional.cosine_similarity(x1, x2, dim=1, eps=eps)
    return functional.avg_pool2d(similarity.unsqueeze(1), kernel_size, stride, padding)
