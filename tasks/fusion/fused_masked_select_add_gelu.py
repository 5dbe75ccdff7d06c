"""Elements picked by a mask, something added, then GELU: gelu(input[mask] + alpha * other, approximate).

The elements of `input` where `mask` (boolean) is true form a vector, in row-major order; `input` and `mask` broadcast
against each other. `other` is a number, or a tensor with no dimension, of length 1, or of as many elements as were
picked; `alpha` is a number. How long the result is depends on the mask alone; if nothing is picked it is empty.
"""

import torch

from pytest_kernelbenchx import fills, task


@task(
    inputs={"input": "T[*S~]", "mask": "bool[*S~]", "other": "T[*P] | number"},
    output="T[?]",
    dtypes=("f32", "f16", "bf16"),
    axes={"P": [[], [1]]},
    fill={"mask": fills.bernoulli(0.5)},
    options={"alpha": [1, 0.5, -2, 0]},
    examples=[
        dict(input=[1.0, 2.0, 3.0, 4.0], mask=[True, False, True, False], other=1.0, S=[4]),
        *[dict(S=[4096], other=0.1, alpha=0.5, approximate=how, fill="both") for how in ("tanh", "none")],
        dict(S=[2, 3], input=[1.0, 2.0, 3.0], mask=[[True, False, True], [False, True, True]], other=-1.5, alpha=2),
        dict(S=[5000], P=[5000], mask="ones", alpha=-0.5, dtype="f16"),
        dict(S=[5000], mask="zeros", other=1.0),
        dict(S=[70001], other=0.5),
        dict(S=[3], other=0.5, approximate="erf", raises=RuntimeError),
        dict(input=[1.0, 2.0, 3.0, 4.0], mask=[True, False, True, True], other=[0.5, -2.5, -9.0], S=[4], out=True),
    ],
    sizes={label: dict(S=[n], P=[], other=0.5) for label, n in (("4k", 4096), ("1m", 1 << 20), ("128m", 1 << 27))},
    bytes=lambda S, itemsize: torch.Size(S).numel() * (1 + itemsize + itemsize // 2),  # half of the mask is true
)
def fused_masked_select_add_gelu(input, mask, other, *, alpha=1, approximate="none", out=None):
    total = torch.add(torch.masked_select(input, mask), other, alpha=alpha)
    return torch.nn.functional.gelu(total, approximate=approximate)
