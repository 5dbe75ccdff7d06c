"""Adam (arXiv 1412.6980): a constructor over a list of tensors; what it returns has `step()`.

    g = grad + weight_decay * param
    m = beta1 * m + (1 - beta1) * g
    v = beta2 * v + (1 - beta2) * g ** 2
    param = param - lr * (m / (1 - beta1 ** t)) / (sqrt(v / (1 - beta2 ** t)) + eps)

`params` is a list of float32 tensors of any shapes; m and v of each are 0 at first, and t counts the steps from 1.
`betas` is (beta1, beta2). `step()` reads the gradient of each tensor from its `.grad` and changes the tensor in place;
the gradient stays as it is. The tensors are judged after three steps with three different gradients. Upstream compares
the hyper-parameters that the constructor was given, and no number that was computed.
"""

import math

import torch

from pytest_kernelbenchx import task


@task(
    inputs={"params": "list[f32[*M, N_i]]", "grads": "list[f32[*M, N_i]]"},
    output="list[f32[*M, N_i]]",
    axes={"M": [[], [], [1], [2], [7], [16], [33], [3, 4]]},
    options={
        "lr": (1e-3, 1e-2, 0.1, 1.0),
        "betas": ((0.9, 0.999), (0.85, 0.95), (0.5, 0.9), (0.0, 0.99)),
        "eps": (1e-8, 1e-6, 0.1),
        "weight_decay": (0, 0.01, 1.0),
    },
    mutates=("params",),
    mode="optimizer",
    bytes=lambda M, N_i: 28 * math.prod(M) * sum(N_i),
    examples=[
        *[dict(M=[2], N_i=[2], **o) for o in (dict(lr=0.01), dict(betas=(0.85, 0.95)), dict(weight_decay=0.01))],
        dict(M=[], N_i=[3], params=[[1.0, -2.0, 3.0]], grads=[[[0.1, 0.0, g]] for g in (-3.0, 3.0, 0.0)]),
        dict(M=[], N_i=[1025, 3, 64], lr=0.1, weight_decay=0.5, fill="both"),
        dict(M=[3], N_i=[5, 1], lr=1.0, eps=0.1, grads="ones"),
    ],
    sizes={"4k": dict(M=[], N_i=[2**12]), "1m": dict(M=[], N_i=[2**20]), "64m": dict(M=[], N_i=[2**26])},
)
def Adam(params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0):
    return torch.optim.Adam(params, lr=lr, betas=betas, eps=eps, weight_decay=weight_decay)
