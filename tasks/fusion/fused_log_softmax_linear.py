"""Linear layer, then log-softmax: log_softmax(x, dim, dtype) of x = input @ weight.T + bias.

    log_softmax(x) = x - max - log(sum(exp(x - max))), max and sum along `dim`

`input` is [..., K] with any leading dimensions, `weight` [N, K] and `bias`, if given, [N]; the result is [..., N]. With
`dtype` x is converted to it before the log-softmax, whose result has it; x itself is of the input's type still.
"""

import torch

from pytest_kernelbenchx import Shapes, task

LITERAL = dict(input=[[1.0, 2.0], [3.0, 4.0]], weight=[[0.5, 0.5], [0.5, -0.5]])


@task(
    inputs={"input": "T[*B, K]", "weight": "T[N, K]", "bias": "T[N] | None"},
    output="T[...]",
    dtypes=("f32", "f16", "bf16"),
    axes={"B": Shapes(0, 2, longest=33)},
    options={"dim": lambda B: range(-len(B) - 1, len(B) + 1), "dtype": [None, None, torch.float32, torch.float64]},
    tolerance={"f64": (1e-5, 2e-5)},  # x was computed in float32, or rounded to 16 bits
    examples=[
        dict(LITERAL, bias=[0.1, -0.1]),
        dict(B=[32], K=128, N=257, bias=True, fill="both", dtype=("f32", "f16")),
        dict(B=[3], K=1000, N=1025),
        dict(B=[3], K=5, N=1025, bias="low"),
        dict(B=[1025], K=4, N=3, dim=-2, bias=True),
        dict(LITERAL, dim=0, dtype=torch.float64),
    ],
    sizes={
        "32": dict(B=[32], K=16, N=16, bias=True),
        "16k": dict(B=[32], K=16384, N=16384, bias=True),
        "4k": dict(B=[4096], K=4096, N=4096, bias=True, dtype="f16"),
        "vocabulary": dict(B=[512], K=2048, N=131072, dtype="bf16"),
    },
    flops=lambda B, K, N: {"tensor": 2 * torch.Size(B).numel() * K * N},
)
def fused_log_softmax_linear(input, weight, bias=None, dim=-1, dtype=None):
    x = torch.nn.functional.linear(input, weight, bias)
    return torch.nn.functional.log_softmax(x, dim, dtype=dtype)
