"""The task tanh in float16: hyperbolic tangent of every element. Large arguments give -1 and 1, never NaN."""

import torch

from pytest_kernelbenchx import task


@task(
    extra=True,
    inputs={"input_tensor": "f16[*S]"},
    output="f16[*S]",
    out="out_tensor",
    dtypes=("f16",),
    examples=[dict(S=[100, 100], fill="both")],
    sizes={"4k": dict(S=[4096]), "1m": dict(S=[1 << 20]), "128m": dict(S=[1 << 27])},
)
def tanh_fp16(input_tensor, out_tensor=None):
    return torch.tanh(input_tensor, out=out_tensor)
