"""input - alpha * other.

Both have a floating-point type, the same, and broadcast against each other; `other` may be a Python number. `alpha` is
a number. The result has the type of the inputs. With `out` the result is written there, whatever its strides, and it is
returned.
"""

import torch

from pytest_kernelbenchx import Shapes, task


@task(
    inputs={"input": "T[*S~]", "other": "T[*S~] | number"},
    output="T[...]",
    dtypes=("f32", "f16", "bf16"),
    axes={"S": Shapes(0, 4, min_side=0)},
    options={"alpha": [1, 2, 0.5, -1.25, 0]},
    examples=[
        dict(input=[1.0, 2.0, 3.0], other=[0.5, 1.0, 1.5]),
        dict(input=[4.0, 5.0, 6.0], other=[1.0, 1.0, 1.0], alpha=2),
        dict(input=[7.0, 8.0, 9.0], other=2.0),
        dict(input=[7.0, 8.0, 9.0], other=2.0, alpha=0.5),
        dict(input=[10.0, 11.0, 12.0], other=[3.0, 3.0, 3.0], out=True),
        dict(input=[[1.0], [2.0]], other=[[[1.0, 2.0, 3.0]], [[4.0, 5.0, 6.0]]], S=[2, 2, 3], alpha=-1),
        *[dict(S=[64, 64], fill=fill) for fill in ("standard", "outlier")],
        dict(S=[0]),
    ],
    sizes={"4k": dict(S=[4096]), "1m": dict(S=[1 << 20]), "128m": dict(S=[1 << 27])},
    bytes=lambda S, itemsize: 3 * itemsize * torch.Size(S).numel(),
)
def sub(input, other, *, alpha=1, out=None):
    return torch.sub(input, other, alpha=alpha, out=out)
