"""Matrix times vector, the logistic function, then a scaled subtraction: sigmoid(input @ vec) - alpha * other.

`input` is [N, K] and `vec` [K]; the result is [N]. `other` broadcasts to [N] or is a number; `alpha` is a number. The
rows of `input` are drawn with a norm of about 1, since otherwise most elements would saturate at 0 or 1.
"""

import torch

from pytest_kernelbenchx import fills, task


@task(
    inputs={"input": "T[N, K]", "vec": "T[K]", "other": "T[*O] | number"},
    output="T[N]",
    dtypes=("f32", "f16"),
    axes={"O": lambda N: [[N], [N], [1], []]},
    fill={"input": fills.fan_in},
    options={"alpha": [1, 2, 0.5, -1.25, 0]},
    examples=[
        dict(input=[[1.0, 2.0], [3.0, 4.0]], vec=[1.0, 1.0], other=[0.5, 0.5], alpha=2),
        dict(N=128, K=64, O=[128], alpha=0.5, fill="both", out=True),
        dict(N=3, K=5000, O=[3]),
        dict(N=1025, K=3, O=[], dtype="f16"),
        dict(N=4, K=0, O=[1]),
        dict(input=[[1.0, 2.0], [3.0, 4.0]], vec=[1.0, 1.0], other=0.5),
        dict(input=[[90.0, 20.0], [-90.0, -20.0]], vec=[1.0, 1.0], other=[0.0, 0.0], out=True),
    ],
    sizes={
        "64": dict(N=64, K=64, other=0.5, O=[]),
        "16k": dict(N=16384, K=16384, O=[16384]),
        "16k_f16": dict(N=16384, K=16384, O=[16384], dtype="f16"),
    },
)
def fused_mv_sigmoid_sub(input, vec, other, alpha=1, *, out=None):
    return torch.sub(torch.sigmoid(torch.mv(input, vec)), other, alpha=alpha)
