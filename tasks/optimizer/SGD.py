"""One step of stochastic gradient descent with momentum, in place.

    g = grad + weight_decay * param
    momentum_buffer = momentum * momentum_buffer + (1 - dampening) * g      only if momentum is not 0
    g = g + momentum * momentum_buffer if nesterov else momentum_buffer     only if momentum is not 0
    param = param - lr * g

`param`, `grad` and `momentum_buffer` are float32 tensors of one shape. `param` and `momentum_buffer` are updated where
they are, whatever their strides; `grad` stays as it is. The result is `(param, momentum_buffer)`. Without a
`momentum_buffer` a buffer of zeros is the start (torch.optim.SGD starts from the gradient itself) and the new buffer is
returned. With momentum 0 a given buffer stays as it is and the result is `(param, None)`. Defaults differ from
torch.optim.SGD. `sgd_step` is another name of the entry point.
"""

import math

import torch

from pytest_kernelbenchx import Shapes, task


@task(
    inputs={"param": "f32[*S]", "grad": "f32[*S]", "momentum_buffer": "f32[*S] | None"},
    output=["f32[*S]", "f32[*S] | None"],
    axes={"S": Shapes(1, 3)},
    options={
        "lr": (0.1, 0.05, 1.0),
        "momentum": (0.9, 0.0, 0.5),
        "weight_decay": (0.0, 0.01, 0.5),
        "dampening": (0.0, 0.25),
        "nesterov": (False, True),
    },
    mutates=("param", "momentum_buffer"),
    aliases=("sgd_step",),
    layouts=("contiguous", "transposed", "strided", "offset", "expanded"),
    sizes={
        "1k": dict(S=[2**10], momentum_buffer=True),
        "1m": dict(S=[2**20], momentum_buffer=True),
        "64m": dict(S=[2**26], momentum_buffer=True),
    },
    bytes=lambda S, itemsize: 5 * math.prod(S) * itemsize,
    flops=lambda S: 6 * math.prod(S),
    examples=[
        dict(S=[128], momentum=0.0),
        dict(S=[128], momentum=0.0, weight_decay=0.01),
        dict(S=[256], momentum_buffer="zeros"),
        dict(S=[128], momentum_buffer="zeros", nesterov=True),
        dict(S=[7, 65], dampening=0.5, layout={"param": "transposed", "grad": "expanded"}),
        dict(S=[128], momentum_buffer=True, momentum=0.0),
        *(
            dict(S=[512], momentum_buffer=True, lr=0.05, weight_decay=0.01, nesterov=True, fill=fill)
            for fill in ("standard", "outlier")
        ),
        dict(S=[1025], momentum_buffer=True, lr=0.05, weight_decay=0.3, dampening=0.25),
        dict(S=[1]),
    ],
)
def SGD(param, grad, momentum_buffer=None, lr=0.1, momentum=0.9, weight_decay=0.0, dampening=0.0, nesterov=False):
    step = grad + weight_decay * param
    if momentum == 0:
        return param.sub_(lr * step), None
    buffer = torch.zeros_like(param) if momentum_buffer is None else momentum_buffer
    buffer.mul_(momentum).add_((1 - dampening) * step)
    return param.sub_(lr * (step + momentum * buffer if nesterov else buffer)), buffer
