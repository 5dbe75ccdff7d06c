"""One step of stochastic gradient descent with momentum, in place.

    g = grad + weight_decay * param
    momentum_buffer = momentum * momentum_buffer + (1 - dampening) * g      only if momentum is not 0
    g = g + momentum * momentum_buffer if nesterov else momentum_buffer     only if momentum is not 0
    param = param - lr * g

`param`, `grad` and `momentum_buffer` are float32 [N]. `param` and `momentum_buffer` are updated where they are; `grad`
stays as it is. The result is `(param, momentum_buffer)`. Without a `momentum_buffer` a buffer of zeros is the start
(torch.optim.SGD starts from the gradient itself) and the new buffer is returned. With momentum 0 a given buffer stays
as it is and the result is `(param, None)`. Defaults differ from torch.optim.SGD. `sgd_step` is another name of the
entry point.
"""

import torch

from pytest_kernelbenchx import task


@task(
    inputs={"param": "f32[N]", "grad": "f32[N]", "momentum_buffer": "f32[N] | None"},
    output=["f32[N]", "f32[N] | None"],
    options={
        "lr": (0.1, 0.05, 1.0),
        "momentum": (0.9, 0.0, 0.5),
        "weight_decay": (0.0, 0.01, 0.5),
        "dampening": (0.0, 0.25),
        "nesterov": (False, True),
    },
    mutates=("param", "momentum_buffer"),
    aliases=("sgd_step",),
    sizes={
        "1k": dict(N=2**10, momentum_buffer=True),
        "1m": dict(N=2**20, momentum_buffer=True),
        "64m": dict(N=2**26, momentum_buffer=True),
    },
    bytes=lambda N, itemsize: 5 * N * itemsize,
    flops=lambda N: 6 * N,
    examples=[
        dict(N=128, momentum=0.0),
        dict(N=128, momentum=0.0, weight_decay=0.01),
        dict(N=256, momentum_buffer="zeros"),
        dict(N=128, momentum_buffer="zeros", nesterov=True),
        dict(N=300, dampening=0.5),
        dict(N=128, momentum_buffer=True, momentum=0.0),
        *(
            dict(N=512, momentum_buffer=True, lr=0.05, weight_decay=0.01, nesterov=True, fill=fill)
            for fill in ("standard", "outlier")
        ),
        dict(N=1025, momentum_buffer=True, lr=0.05, weight_decay=0.3, dampening=0.25),
        dict(N=1),
    ],
)
def SGD(param, grad, momentum_buffer=None, lr=0.1, momentum=0.9, weight_decay=0.0, dampening=0.0, nesterov=False):
    step = grad + weight_decay * param
    if momentum == 0:
        return param.sub_(lr * step), None
    buffer = torch.zeros_like(param) if momentum_buffer is None else momentum_buffer
    buffer.mul_(momentum).add_((1 - dampening) * step)
    return param.sub_(lr * (step + momentum * buffer if nesterov else buffer)), buffer
