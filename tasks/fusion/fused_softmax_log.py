"""Softmax of the natural logarithm along one dimension: softmax(log(input), dim).

`input` holds numbers from 0 up and has one or more dimensions. With `dtype` the input is converted to that type first
and the result has it; float64 is then computed in float64. The share of a 0 is 0, and a slice of zeros alone gives NaN.
The shares add up to 1 also where the elements of `input` add up to more than the type can hold.
"""

import torch

from pytest_kernelbenchx import Shapes, dims, fills, task


@task(
    inputs={"input": "T[*S]"},
    output="T[...]",
    dtypes=("f32", "f16", "bf16"),
    axes={"S": Shapes(1, 4)},
    fill={"input": fills.positive()},
    options={"dim": dims, "dtype": [None, None, torch.float32, torch.float64]},
    examples=[
        dict(input=[[1.0, 2.0], [3.0, 4.0]]),
        dict(input=[[0.0, 1.0, 3.0], [0.0, 0.0, 0.0], [3e38, 2e38, 1e-30]]),
        dict(S=[64, 256], dim=1, fill="both"),
        dict(S=[2, 20011], fill="outlier", dtype="f32"),
        dict(S=[5003, 5], dim=0, dtype="f32"),
        dict(S=[0, 3], dim=1),
        dict(input=[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], dim=0, dtype=torch.float64),
    ],
    sizes={
        **{label: dict(S=[1024, n]) for label, n in (("16", 16), ("4k", 4096), ("64k", 65536))},
        "columns": dict(S=[8192, 8192], dim=0, dtype="bf16"),
    },
)
def fused_softmax_log(input, dim=-1, dtype=None):
    return torch.softmax(torch.log(input if dtype is None else input.to(dtype)), dim)
