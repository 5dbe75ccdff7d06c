"""The task relu in bfloat16: max(x, 0) for every element, written into `input` with `inplace=True`."""

import torch

from pytest_kernelbenchx import task


@task(
    extra=True,
    inputs={"input": "bf16[*S]"},
    output="bf16[*S]",
    dtypes=("bf16",),
    mutates=("input",),
    examples=[dict(S=[64, 65], fill="both"), dict(input=[1e5, -1e5, 3e38, 1e-30])],
    sizes={"4k": dict(S=[4096]), "1m": dict(S=[1 << 20]), "128m": dict(S=[1 << 27])},
)
def relu_bf16(input, inplace=False):
    return torch.nn.functional.relu(input, inplace=inplace)
