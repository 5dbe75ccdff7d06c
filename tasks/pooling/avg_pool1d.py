"""Average pooling over windows along the last axis.

    output[..., i] = 1 / kernel_size * sum over k < kernel_size of input[..., i * stride + k - padding]

`input` is float32 [C, L] or [N, C, L]; outside it lie `padding` zeros on both sides, which count in the average. The
result is [..., (L + 2 * padding - kernel_size) // stride + 1]. `stride` is `kernel_size` by default; `padding` is at
most half of `kernel_size`. Each may be an integer or a tuple of one. A window that does not fit and a larger padding
raise RuntimeError.
"""

import torch

from pytest_kernelbenchx import Shapes, task


@task(
    inputs={"input": "f32[*S, L]"},
    output="f32[...]",
    axes={"S": Shapes(1, 2)},
    options={
        "kernel_size": lambda L: [k for k in (2, 1, 3, 4, 7, (2,), 64) if k == (2,) or k <= L] if L > 1 else [1],
        "stride": (None, 1, 2, 3, (2,)),
        "padding": lambda kernel_size: range((kernel_size if isinstance(kernel_size, int) else 2) // 2 + 1),
    },
    examples=[
        dict(S=[2, 4], L=16, kernel_size=2),
        dict(S=[2, 4], L=16, kernel_size=3, stride=1, padding=1),
        dict(input=[[[1.0, 2.0, 3.0, 4.0, 5.0]]], kernel_size=(2,), stride=(3,), padding=(1,)),
        dict(S=[3], L=1025, kernel_size=5),
        dict(S=[2, 3], L=7, kernel_size=7),
        dict(S=[4], L=5, kernel_size=3, stride=9),
        dict(S=[2, 3], L=300, kernel_size=130, stride=1, padding=65, fill="outlier"),
        *[dict(S=[1, 1], L=2, kernel_size=3, padding=padding, raises=RuntimeError) for padding in (0, 2)],
    ],
    sizes={label: dict(S=[2, 64], L=L, kernel_size=2) for label, L in {"1k": 2**10, "32k": 2**15, "1m": 2**20}.items()},
)
def avg_pool1d(input, kernel_size, stride=None, padding=0):
    return torch.nn.functional.avg_pool1d(input, kernel_size, kernel_size if stride is None else stride, padding)
