"""Natural logarithm, then hyperbolic tangent, of every element: tanh(log(input)).

`input` has any shape and a floating-point type; the result has the same shape and type. An element that is zero or
negative, wherever it stands, raises ValueError (whatever its text). Infinity gives 1, NaN gives NaN. With `out` the
result is written there, whatever its strides, and it is returned. `input` stays as it is.
"""

import torch

from pytest_kernelbenchx import Shapes, fills, task


@task(
    inputs={"input": "T[*S]"},
    output="T[*S]",
    dtypes=("f32", "f16", "bf16"),
    axes={"S": Shapes(0, 4, min_side=0)},
    fill={"input": fills.positive()},
    examples=[
        dict(input=[1.0, 2.0, 3.0]),
        dict(input=[1.0, 2.0, 3.0], out=True),
        dict(input=[0.1, 0.01, 0.001]),
        dict(input=[1.0001, 0.9995, 1.003, 0.99, 1.0]),
        dict(input=[1e-30, 1e-4, 1e4, 1e30, float("inf"), float("nan")]),
        *[dict(S=[4099], fill=fill) for fill in ("standard", "outlier")],
        dict(S=[0]),
        dict(input=[-1.0, 0.0, 2.0], raises=ValueError),
        dict(input=[2.0, -0.0], raises=ValueError),
        dict(input=[0.5] * 1100 + [-1.0], raises=ValueError),
    ],
    sizes={"4k": dict(S=[4096]), "1m": dict(S=[1 << 20]), "128m": dict(S=[1 << 27])},
)
def fused_log_tanh(input, out=None):
    if (input <= 0).any():
        raise ValueError("every element must be positive")
    return torch.tanh(torch.log(input), out=out)
