"""The task tanh in bfloat16: hyperbolic tangent of every element. Large arguments give -1 and 1, never NaN."""

import torch

from pytest_kernelbenchx import task


@task(
    extra=True,
    inputs={"input_tensor": "bf16[*S]"},
    output="bf16[*S]",
    out="out_tensor",
    dtypes=("bf16",),
    examples=[dict(S=[100, 100], fill="both")],
    sizes={"4k": dict(S=[4096]), "1m": dict(S=[1 << 20]), "128m": dict(S=[1 << 27])},
)
def tanh_bf16(input_tensor, out_tensor=None):
    return torch.tanh(input_tensor, out=out_tensor)
