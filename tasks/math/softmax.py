"""Softmax along one dimension: exp(x - max) / sum(exp(x - max)), both taken along `dim`.

`input` has one or more dimensions. With `dtype` it is converted to that type first and the result has it; float64 is
then computed in float64. Where some of a slice is -inf, its share is 0.
"""

import torch

from pytest_kernelbenchx import Shapes, dims, task


@task(
    inputs={"input": "T[*S]"},
    output="T[...]",
    dtypes=("f32", "f16", "bf16"),
    axes={"S": Shapes(1, 4)},
    options={"dim": dims, "dtype": [None, None, torch.float32, torch.float64]},
    examples=[
        *[dict(input=[[1.0, 2.0, 3.0], [1.0, 2.0, 3.0]], dim=dim) for dim in (0, 1)],
        dict(input=[[1.0, 2.0, 3.0], [1.0, 2.0, 3.0]], dim=1, dtype=torch.float64),
        dict(input=[[-float("inf"), 0.0, 1.0], [-1000.0, 1000.0, 0.0]], dim=1),
        *[dict(S=[64, 128], dim=dim, fill="both") for dim in (0, -1)],
        dict(S=[2, 70001], dim=-1, fill="outlier"),
        *[dict(S=S, dim=dim) for S, dim in (([9001, 5], 0), ([0, 3], 1))],
        *[dict(S=S, dim=1, input="low") for S in ([33, 65], [2, 17001])],
    ],
    sizes={
        "1k": dict(S=[1024, 1024], dim=1),
        "4k": dict(S=[4096, 4096], dim=1, dtype="bf16"),
        "64k": dict(S=[1024, 65536], dim=1),
        "columns": dict(S=[8192, 8192], dim=0),
    },
)
def softmax(input, dim, dtype=None):
    return torch.nn.functional.softmax(input, dim, dtype=dtype)
