"""Sum over `dim`, then the standard deviation of all the sums: sqrt(sum((s - mean) ** 2) / (count - correction)).

`input` has one or more dimensions. `dim` is the dimension that is added up, several of them in a tuple or list, or None
for all; the deviation is that of all `count` sums, whatever `dim` is, and the result has no dimensions. It is 0 where
there are no more sums than `correction`, as for `dim=None` (where upstream's 0 is on the CPU, always). `keepdim` keeps
the summed dimensions of the sums and so has no effect that can be seen. With `dtype`, both are computed in it.
"""

import torch

from pytest_kernelbenchx import Shapes, fills, some_dims_or_none, task


@task(
    inputs={"input": "T[*S]"},
    output="T[]",
    dtypes=("f32", "f16"),
    axes={"S": Shapes(2, 4)},
    fill={"input": fills.normal(0.5)},
    options={"dim": some_dims_or_none, "dtype": [None, None, torch.float32, torch.float64], "correction": [1, 0, 2]},
    examples=[
        dict(input=[1.0, 2.0, 3.0, 4.0]),
        dict(input=[1.0, 2.0, 3.0, 4.0], dim=0, correction=0, keepdim=True),
        *[dict(S=[128, 256], dim=dim, fill="both", out=dim == 0) for dim in (0, 1)],
        dict(S=[2, 3, 5], dim=(0, -1), dtype=torch.float64),
        dict(S=[7, 5000], dim=-1, dtype="f32"),
        dict(S=[5003, 3], dim=0, correction=2),
        dict(S=[1, 2050], dim=0),
        dict(input=[[1.0, 2.0], [3.0, 5.0]], dim=1, correction=0),
    ],
    sizes={
        "64": dict(S=[64, 64], dim=1),
        "4k": dict(S=[4096, 4096], dim=1),
        "columns": dict(S=[16384, 8192], dim=0),
        "half": dict(S=[8192, 32768], dim=1, dtype="f16"),
    },
)
def fused_sum_std(input, dim=None, keepdim=False, dtype=None, correction=1, out=None):
    sums = torch.sum(input, dim, keepdim, dtype=dtype)
    return torch.std(sums, correction=correction) if sums.numel() > correction else sums.new_zeros(())
