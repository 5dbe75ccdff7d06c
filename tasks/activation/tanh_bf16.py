"""The task tanh in bfloat16: the hyperbolic tangent of every element, computed in float32 and rounded once.

`input_tensor` has any shape; the result has the same shape and type. Large arguments give -1 and 1, never NaN. With
`out_tensor` the result is written there, whatever its strides, and it is returned.
"""

import torch

from pytest_kernelbenchx import Shapes, task


@task(
    extra=True,
    inputs={"input_tensor": "bf16[*S]"},
    output="bf16[*S]",
    out="out_tensor",
    dtypes=("bf16",),
    axes={"S": Shapes(0, 4, min_side=0)},
    examples=[dict(S=[100, 100], fill=fill) for fill in ("standard", "outlier")],
    sizes={"4k": dict(S=[4096]), "1m": dict(S=[1 << 20]), "128m": dict(S=[1 << 27])},
)
def tanh_bf16(input_tensor, out_tensor=None):
    return torch.tanh(input_tensor, out=out_tensor)
