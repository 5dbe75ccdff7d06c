"""Matrix product, then logistic function, hyperbolic tangent, scale and shift.

    output = tanh(sigmoid(input @ weight1)) * weight2 + bias,  sigmoid(x) = 1 / (1 + exp(-x))

`input` is [M, K], `weight1` [K, N], the result [M, N]; `weight2` and `bias` each broadcast to it, for instance [M, N],
[N], [M, 1] or []. All are float32. Upstream times vectors of length N for `weight2` and `bias`, and tests matrices
alone.
"""

import torch

from pytest_kernelbenchx import task


@task(
    inputs={"input": "f32[M, K]", "weight1": "f32[K, N]", "weight2": "f32[*S~]", "bias": "f32[*S~]"},
    output="f32[M, N]",
    axes={"S": lambda M, N: [[M, N]]},
    flops=lambda M, K, N: {"tensor": 2 * M * K * N},
    examples=[
        dict(M=2, K=3, N=4, S=[2, 4]),
        dict(M=64, K=128, N=97, S=[64, 97], fill="both"),
        *[dict(M=17, K=257, N=33, S=S, out=True) for S in ([33], [17, 1], [])],
    ],
    sizes={str(n): dict(M=n, K=n, N=n, S=[n]) for n in (64, 512, 2048)},
)
def combined_activation(input, weight1, weight2, bias, *, out=None):
    return torch.add(torch.tanh(torch.sigmoid(torch.mm(input, weight1))) * weight2, bias, out=out)
