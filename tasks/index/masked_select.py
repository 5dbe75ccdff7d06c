"""The elements of `input` where `mask` is true, in row-major order, as a vector.

`input` and `mask` (boolean) broadcast against each other. How long the result is depends on the mask alone; nothing
selected gives a vector of length 0.
"""

import torch

from pytest_kernelbenchx import fills, task


@task(
    inputs={"input": "T[*S~]", "mask": "bool[*S~]"},
    output="T[?]",
    dtypes=("f32", "f16", "bf16", "i64"),
    fill={"mask": fills.bernoulli(0.5)},
    examples=[
        dict(S=[4, 5]),
        dict(input=[[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]], mask=[[[True], [False]]], S=[2, 2, 2]),
        dict(S=[64, 128], fill="both"),
        dict(S=[70001]),
        dict(S=[5000], mask="zeros"),
        dict(S=[5000], mask="ones"),
        dict(S=[0]),
        dict(input=[1.0, 2.0, 3.0], mask=[[True, False, True], [False, True, True]], S=[2, 3]),
    ],
    sizes={"4k": dict(S=[4096]), "1m": dict(S=[1 << 20]), "64m": dict(S=[1 << 26])},
    bytes=lambda S, itemsize: torch.Size(S).numel() * (1 + itemsize + itemsize // 2),  # half of the mask is true
)
def masked_select(input, mask):
    return torch.masked_select(input, mask)
