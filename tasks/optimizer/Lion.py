"""One step of the Lion optimizer (arXiv 2302.06675), in place.

    direction = sign(beta1 * exp_avg + (1 - beta1) * grad)
    param = param * (1 - lr * weight_decay) - lr * direction
    exp_avg = beta2 * exp_avg + (1 - beta2) * grad

`param`, `grad` and `exp_avg` are float32 tensors of one shape; sign(0) is 0. `param` and `exp_avg` are updated where
they are, whatever their strides. The result is `(param, exp_avg)`. `lion_step` is another name of the entry point.
"""

import torch

from pytest_kernelbenchx import Shapes, fills, task


def averages(rng, shape, dtype, kind, grad, beta1):
    """Values that leave no direction to rounding."""
    values = fills.default(rng, shape, dtype, kind)
    return torch.where((beta1 * values + (1 - beta1) * grad).abs() < 1e-5, values + 1, values)


@task(
    inputs={"param": "f32[*S]", "grad": "f32[*S]", "exp_avg": "f32[*S]"},
    output=["f32[*S]", "f32[*S]"],
    axes={"S": Shapes(1, 3)},
    fill={"exp_avg": averages},
    options={
        "lr": (1e-4, 1e-3, 0.1),
        "beta1": (0.9, 0.95, 0.5),
        "beta2": (0.99, 0.98, 0.5),
        "weight_decay": (0.0, 0.1, 1.0),
    },
    mutates=("param", "exp_avg"),
    aliases=("lion_step",),
    layouts=("contiguous", "transposed", "strided", "offset", "expanded"),
    examples=[
        dict(S=[128], exp_avg="zeros", lr=1e-3, beta1=0.95, beta2=0.98, weight_decay=0.1),
        dict(S=[7, 65], lr=5e-4, layout={"param": "transposed", "grad": "expanded"}),
        dict(param=[1.0, -2.0, 3.0, 4.0], grad=[0.0, 0.0, 2.0, -2.0], exp_avg=[0.0, 1.0, 0.0, 0.0], lr=0.5),
        dict(S=[1025], lr=0.1, weight_decay=1.0, fill="both"),
    ],
    sizes={"1k": dict(S=[2**10]), "1m": dict(S=[2**20]), "64m": dict(S=[2**26])},
)
def Lion(param, grad, exp_avg, lr=1e-4, beta1=0.9, beta2=0.99, weight_decay=0.0):
    direction = torch.sign(beta1 * exp_avg + (1 - beta1) * grad)
    param.mul_(1 - lr * weight_decay).sub_(lr * direction)
    return param, exp_avg.mul_(beta2).add_((1 - beta2) * grad)
