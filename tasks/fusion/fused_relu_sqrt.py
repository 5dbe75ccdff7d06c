"""Square root of the rectified input: sqrt(max(input, 0)) for every element.

`input` has any shape and is float32 or int64; the result has the same shape and is float32. With `inplace=True` a
float32 `input` takes the result, whatever its strides, and is itself returned; an int64 one cannot hold it and stays as
it is. With `out` (float32, of input's shape) the result is written there, whatever its strides, and `out` is returned.
`inplace` and `out` do not come together. Otherwise nothing is mutated.
"""

import torch

from pytest_kernelbenchx import Shapes, task


@task(
    inputs={"input": "T[*S]", "out": "f32[*S] | None"},
    output="f32[*S]",
    dtypes=("f32", "i64"),
    axes={"S": Shapes(0, 4, min_side=0)},
    options={"inplace": [False, True]},
    where=lambda inplace, present: not (inplace and present),
    mutates=("input", "out"),
    examples=[
        dict(input=[-1.0, 0.0, 4.0, 9.0]),
        dict(input=[-1.0, 0.0, 4.0, 9.0], inplace=True),
        dict(input=[-1.0, 0.0, 4.0, 9.0], out=True),
        *[dict(input=[-1, 0, 4, 9, 2**40, 2**53 + 1], dtype="i64", inplace=inplace) for inplace in (False, True)],
        dict(input=[1e-44, 1e-38, 3e38, float("inf"), -float("inf"), -0.0]),
        *[dict(S=[128, 129], fill=fill) for fill in ("standard", "outlier")],
        dict(S=[64, 64], dtype="i64"),
        dict(S=[0]),
    ],
    sizes={"4k": dict(S=[4096]), "1m": dict(S=[1 << 20]), "128m": dict(S=[1 << 27])},
)
def fused_relu_sqrt(input, inplace=False, out=None):
    target = input if inplace and input.is_floating_point() else out
    result = torch.sqrt(torch.relu(input))
    return result if target is None else target.copy_(result)
