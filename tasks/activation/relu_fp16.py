"""The task relu in float16: max(x, 0) for every element, written into `input` with `inplace=True`."""

import torch

from pytest_kernelbenchx import task


@task(
    extra=True,
    inputs={"input": "f16[*S]"},
    output="f16[*S]",
    dtypes=("f16",),
    mutates=("input",),
    examples=[dict(S=[64, 65], fill="both")],
    sizes={"4k": dict(S=[4096]), "1m": dict(S=[1 << 20]), "128m": dict(S=[1 << 27])},
)
def relu_fp16(input, inplace=False):
    return torch.nn.functional.relu(input, inplace=inplace)
