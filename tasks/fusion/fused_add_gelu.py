"""Scaled sum, then GELU: gelu(input + alpha * other, approximate).

    gelu(x) = x / 2 * (1 + erf(x / sqrt(2)))                                    approximate="none"
    gelu(x) = x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x ** 3)))        approximate="tanh"

Both tensors have a floating-point type, the same, and broadcast against each other; `other` may be a Python number.
`alpha` is a number. The result has the type of the inputs; those of 16 bits are best computed in float32. With `out`,
which upstream ignores, the result is written there, whatever its strides, and it is returned. Nothing else is mutated.
Another `approximate` raises RuntimeError.
"""

import torch

from pytest_kernelbenchx import Shapes, task


@task(
    inputs={"input": "T[*S~]", "other": "T[*S~] | number"},
    output="T[...]",
    dtypes=("f32", "f16", "bf16"),
    axes={"S": Shapes(0, 4, min_side=0)},
    options={"alpha": [1, 0.5, 2, -1.25, 0], "approximate": ["none", "tanh"]},
    examples=[
        dict(input=[1.0, 2.0, 3.0], other=[0.5, 0.5, 0.5]),
        dict(input=[1.0, 2.0, 3.0], other=[0.5, 0.5, 0.5], alpha=2),
        dict(input=[1.0, 2.0, 3.0], other=[0.5, 0.5, 0.5], approximate="tanh"),
        dict(input=[1.0, 2.0, 3.0], other=0.5),
        *[
            dict(input=[-12.0, -3.0, -2.2, -1.5, -0.75, -0.0, 0.75, 2.2, 12.0], other=0.0, approximate=approximate)
            for approximate in ("none", "tanh")
        ],
        *[
            dict(S=[128, 129], alpha=0.5, approximate=approximate, fill=fill)
            for approximate in ("none", "tanh")
            for fill in ("standard", "outlier")
        ],
        dict(S=[65, 33], out=True),
        dict(S=[0]),
        dict(S=[2], approximate="erf", raises=RuntimeError),
    ],
    sizes={
        "4k": dict(S=[4096], dtype="f16"),
        "1m": dict(S=[1 << 20], dtype="f16"),
        "128m": dict(S=[1 << 27], dtype="f16"),
    },
    bytes=lambda S, itemsize: 3 * itemsize * torch.Size(S).numel(),
)
def fused_add_gelu(input, other, alpha=1, approximate="none", out=None):
    return torch.nn.functional.gelu(torch.add(input, other, alpha=alpha), approximate=approximate)
