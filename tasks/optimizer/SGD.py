"""One step of stochastic gradient descent with momentum, in place.

    g = grad + weight_decay * param
    momentum_buffer = momentum * momentum_buffer + (1 - dampening) * g      only if momentum is not 0
    g = g + momentum * momentum_buffer if nesterov else momentum_buffer     only if momentum is not 0
    param = param - lr * g

`param`, `grad` and `momentum_buffer` are float32 tensors of one shape. `param` and `momentum_buffer` are updated where
they are, whatever their strides. The result is `(param, momentum_buffer)`. Without a `momentum_buffer` a buffer of
zeros is the start (torch.optim.SGD starts from the gradient itself) and the new buffer is returned. With momentum 0 a
given buffer stays as it is and the result is `(param, None)`. Defaults differ from torch.optim.SGD. `sgd_step` is
another name of the entry point.
"""

import torch

from pytest_kernelbenchx import Shapes, task

BUFFER = dict(momentum_buffer=True)


@task(
    inputs={"param": "f32[*S]", "grad": "f32[*S]", "momentum_buffer": "f32[*S] | None"},
    output=["f32[*S]", "f32[*S] | None"],
    axes={"S": Shapes(1, 3)},
    options={
        "lr": (0.1, 0.05, 1.0),
        "momentum": (0.9, 0.0, 0.5),
        "weight_decay": (0.0, 0.01, 0.5),
        "dampening": (0.0, 0.25),
    },
    mutates=("param", "momentum_buffer"),
    aliases=("sgd_step",),
    layouts=("contiguous", "transposed", "strided", "offset", "expanded"),
    examples=[
        *[dict(S=[128], momentum=0.0, weight_decay=0.01, momentum_buffer=buffer) for buffer in (False, True)],
        *[dict(S=[128], momentum_buffer="zeros", nesterov=nesterov) for nesterov in (False, True)],
        dict(S=[7, 65], dampening=0.5, layout={"param": "transposed", "grad": "expanded"}),
        dict(BUFFER, S=[1025], lr=0.05, weight_decay=0.01, nesterov=True, fill="both"),
        dict(BUFFER, S=[1025], lr=0.05, weight_decay=0.3, dampening=0.25),
    ],
    sizes={"1k": dict(BUFFER, S=[2**10]), "1m": dict(BUFFER, S=[2**20]), "64m": dict(BUFFER, S=[2**26])},
)
def SGD(param, grad, momentum_buffer=None, lr=0.1, momentum=0.9, weight_decay=0.0, dampening=0.0, nesterov=False):
    step = grad + weight_decay * param
    if momentum == 0:
        return param.sub_(lr * step), None
    buffer = torch.zeros_like(param) if momentum_buffer is None else momentum_buffer
    buffer.mul_(momentum).add_((1 - dampening) * step)
    return param.sub_(lr * (step + momentum * buffer if nesterov else buffer)), buffer
