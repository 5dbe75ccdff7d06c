"""Modified Bessel function of the first kind of order 0 of every element: the sum over k of (x / 2)**2k / (k!)**2.

`input_tensor` has any shape and a floating-point type; the result has the same shape and type. The function is even, 1
at 0, and grows like exp(|x|) / sqrt(2 pi |x|): past |x| = 92 a float32 result is infinite. Relative accuracy is wanted
at 0.1 as at 80. With `out` the result is written there, whatever its strides, and it is returned.
"""

import torch

from pytest_kernelbenchx import Shapes, fills, task


def far(rng, shape, kind):
    """Large arguments, up to where exp(x) still is finite."""
    return fills.normal(std=20.0)(rng, shape, kind).clamp(-80, 80)


@task(
    inputs={"input_tensor": "T[*S]"},
    output="T[*S]",
    dtypes=("f32", "f16", "bf16"),
    axes={"S": Shapes(0, 4, min_side=0)},
    fill={"input_tensor": fills.one_of(fills.uniform(-8, 8), far)},
    examples=[
        dict(input_tensor=[0.0, 1.0, 2.0]),
        dict(input_tensor=[-1.0, -2.0, 3.0, 4.0]),
        dict(input_tensor=[-3.0, 0.0, 3.0], out=True),
        dict(input_tensor=[0.5, 1.5, 2.5]),
        dict(input_tensor=[7.99, 8.0, -8.01, 12.0]),
        dict(input_tensor=[0.0, 200.0, -1e30, float("nan")]),
        *[dict(S=[64, 64], fill=fill) for fill in ("standard", "outlier")],
        dict(S=[0]),
    ],
    sizes={"4k": dict(S=[4096]), "1m": dict(S=[1 << 20]), "128m": dict(S=[1 << 27])},
)
def i0(input_tensor, out=None):
    return torch.special.i0(input_tensor, out=out)
