"""Matrix product, then logistic function, hyperbolic tangent, scale and shift.

    output = tanh(sigmoid(input @ weight1)) * weight2 + bias,  sigmoid(x) = 1 / (1 + exp(-x))

`input` is [M, K], `weight1` [K, N]; `weight2` and `bias` each broadcast to [M, N], for instance [M, N], [N], [M, 1] or
[]. All are float32, and so is the result, a new tensor [M, N]. With `out` it is written there, whatever its strides,
and returned. The product is in full precision: TF32 is wrong. Upstream times vectors of length N for `weight2` and
`bias`, and tests matrices alone.
"""

import torch

from pytest_kernelbenchx import task


@task(
    inputs={"input": "f32[M, K]", "weight1": "f32[K, N]", "weight2": "f32[*S~]", "bias": "f32[*S~]"},
    output="f32[M, N]",
    axes={"S": lambda M, N: [[M, N]]},
    flops=lambda M, K, N: {"tensor": 2 * M * K * N},
    examples=[
        *[dict(M=m, K=3, N=m + 2, S=[m, m + 2]) for m in (2, 3, 4, 5)],
        *[dict(M=64, K=128, N=97, S=[64, 97], fill=fill) for fill in ("standard", "outlier")],
        dict(M=65, K=257, N=33, S=[33], out=True),
        dict(M=17, K=5, N=33, S=[17, 1]),
        dict(M=1, K=1, N=1, S=[]),
    ],
    sizes={
        "64": dict(M=64, K=64, N=64, S=[64]),
        "512": dict(M=512, K=512, N=512, S=[512]),
        "2k": dict(M=2048, K=2048, N=2048, S=[2048]),
    },
)
def combined_activation(input, weight1, weight2, bias, *, out=None):
    return torch.add(torch.tanh(torch.sigmoid(torch.mm(input, weight1))) * weight2, bias, out=out)
