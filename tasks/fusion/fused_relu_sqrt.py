"""Square root of the rectified input: sqrt(max(input, 0)) for every element.

`input` is float32 or int64; the result is float32. With `inplace=True` a float32 `input` takes the result and is itself
returned; an int64 one cannot hold it and stays as it is. `out` is float32; it and `inplace` do not come together.
"""

import torch

from pytest_kernelbenchx import task


@task(
    inputs={"input": "T[*S]", "out": "f32[*S] | None"},
    output="f32[*S]",
    dtypes=("f32", "i64"),
    where=lambda inplace, present: not (inplace and present),
    mutates=("input", "out"),
    examples=[
        dict(input=[-1.0, 0.0, 4.0, 9.0]),
        *[dict(input=[-1, 0, 4, 9, 2**40, 2**53 + 1], dtype="i64", inplace=inplace) for inplace in (False, True)],
        dict(input=[1e-44, 1e-38, 3e38, float("inf"), -float("inf"), -0.0], inplace=True),
        dict(S=[128, 129], fill="both"),
        dict(S=[0]),
        dict(input=[-1.0, 0.0, 4.0, 9.0], out=True),
    ],
    sizes={"4k": dict(S=[4096]), "1m": dict(S=[1 << 20]), "128m": dict(S=[1 << 27])},
)
def fused_relu_sqrt(input, inplace=False, out=None):
    target = input if inplace and input.is_floating_point() else out
    result = torch.sqrt(torch.relu(input))
    return result if target is None else target.copy_(result)
