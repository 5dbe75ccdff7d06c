"""One step of RMSprop without momentum, not centred, in place.

    g = grad + weight_decay * param
    square_avg = alpha * square_avg + (1 - alpha) * g ** 2
    param = param - lr * g / (sqrt(square_avg) + eps)

`param`, `grad` and `square_avg` are float32 tensors of one shape, `square_avg` not negative. `param` and `square_avg`
are updated where they are, whatever their strides. The result is `(param, square_avg)`. `rmsprop_step` is another name
of the entry point.
"""

from pytest_kernelbenchx import Shapes, fills, task


@task(
    inputs={"param": "f32[*S]", "grad": "f32[*S]", "square_avg": "f32[*S]"},
    output=["f32[*S]", "f32[*S]"],
    axes={"S": Shapes(1, 3)},
    fill={"square_avg": fills.positive(0.0)},
    options={
        "lr": (0.01, 0.001, 0.5),
        "alpha": (0.99, 0.9, 0.5),
        "eps": (1e-8, 1e-6, 0.1),
        "weight_decay": (0.0, 0.1, 1.0),
    },
    mutates=("param", "square_avg"),
    aliases=("rmsprop_step",),
    layouts=("contiguous", "transposed", "strided", "offset", "expanded"),
    examples=[
        dict(S=[256], square_avg="zeros", lr=0.001, alpha=0.95, eps=1e-6, weight_decay=0.1),
        dict(S=[7, 65], lr=0.005, alpha=0.9, layout={"param": "transposed", "grad": "expanded"}),
        dict(S=[8], grad="zeros", square_avg="zeros"),
        dict(S=[1025], lr=0.5, eps=0.1, weight_decay=1.0, fill="both"),
    ],
    sizes={"1k": dict(S=[2**10]), "1m": dict(S=[2**20]), "64m": dict(S=[2**26])},
)
def RMSProp(param, grad, square_avg, lr=0.01, alpha=0.99, eps=1e-8, weight_decay=0.0):
    step = grad + weight_decay * param
    square_avg.mul_(alpha).add_((1 - alpha) * step**2)
    return param.sub_(lr * step / (square_avg.sqrt() + eps)), square_avg
