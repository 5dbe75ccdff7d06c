"""The task relu in float16: max(x, 0) for every element.

`input` has any shape; the result has the same shape and type. With `inplace=True` the result is written into `input`,
whatever its strides, and `input` itself is returned; otherwise `input` stays as it is.
"""

import torch

from pytest_kernelbenchx import Shapes, task


@task(
    extra=True,
    inputs={"input": "f16[*S]"},
    output="f16[*S]",
    dtypes=("f16",),
    axes={"S": Shapes(0, 4, min_side=0)},
    options={"inplace": [False, True]},
    mutates=("input",),
    examples=[dict(S=[64, 65], fill=fill) for fill in ("standard", "outlier")],
    sizes={"4k": dict(S=[4096]), "1m": dict(S=[1 << 20]), "128m": dict(S=[1 << 27])},
)
def relu_fp16(input, inplace=False):
    return torch.nn.functional.relu(input, inplace=inplace)
