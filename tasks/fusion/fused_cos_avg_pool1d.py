"""Cosine of every element, then average pooling over windows along the last axis.

    output[n, c, i] = sum over k < kernel_size of cos(input[n, c, i * stride + k - padding]) / divisor

`input` is [N, C, L]. Outside of it lie `padding` zeros on both sides, after the cosine. The divisor is the number of
elements and zeros in the window (kernel_size, but for a window that reaches beyond the zeros), or with
`count_include_pad=False` the number of elements alone. `stride` is `kernel_size` by default; `padding` is at most half
of `kernel_size`. Windows begin at 0, stride, ... and fit within L + 2 * padding; with `ceil_mode=True` there is one
more if it begins before the zeros at the end, though it does not fit. A window that never fits raises RuntimeError.
"""

import torch

from pytest_kernelbenchx import task


@task(
    inputs={"input": "T[N, C, L]"},
    output="T[...]",
    dtypes=("f32", "f16", "bf16"),
    options={
        "kernel_size": lambda L: [k for k in (2, 1, 3, 4, 7, 64) if k <= L],
        "stride": [None, 1, 2, 3],
        "padding": lambda kernel_size: range(kernel_size // 2 + 1),
    },
    examples=[
        dict(input=[[[0.0, 1.0, 2.0, 3.0, 4.0]]], kernel_size=2, ceil_mode=True),
        dict(input=[[[1e3, -2e4, 3e5, 0.0]]], kernel_size=1),
        dict(N=4, C=16, L=256, kernel_size=4, stride=2, padding=1, dtype=("f32", "f16"), fill="both"),
        dict(C=3, L=1026, kernel_size=5, stride=4, padding=2, ceil_mode=True),
        dict(C=3, L=1026, kernel_size=5, stride=4, padding=2, ceil_mode=True, count_include_pad=False),
        dict(L=300, kernel_size=130, stride=1, padding=65, count_include_pad=False),
        dict(L=2, kernel_size=3, raises=RuntimeError),
    ],
    sizes={str(n): dict(N=32, C=32, L=n, kernel_size=3) for n in (1536, 1 << 15, 1 << 17)},
)
def fused_cos_avg_pool1d(input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True):
    return torch.nn.functional.avg_pool1d(torch.cos(input), kernel_size, stride, padding, ceil_mode, count_include_pad)
