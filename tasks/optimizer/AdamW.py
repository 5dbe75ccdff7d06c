"""One step of AdamW (arXiv 1711.05101), in place: Adam with a weight decay that does not pass through the averages.

    param = param * (1 - lr * weight_decay)
    exp_avg = beta1 * exp_avg + (1 - beta1) * grad
    exp_avg_sq = beta2 * exp_avg_sq + (1 - beta2) * grad ** 2
    param = param - lr / (1 - beta1 ** step) * exp_avg / (sqrt(exp_avg_sq / (1 - beta2 ** step)) + eps)

`param`, `grad`, `exp_avg` and `exp_avg_sq` are float32 tensors of one shape, `exp_avg_sq` not negative; `step` is an
integer, 1 at the first step. All but `grad` are updated where they are, whatever their strides. The result is
`(param, exp_avg, exp_avg_sq)`. Powers of the betas are to be computed in double precision. `adamw_step` is another name
of the entry point.
"""

from pytest_kernelbenchx import Shapes, fills, task

FIRST = dict(step=1, exp_avg="zeros", exp_avg_sq="zeros")


@task(
    inputs={"param": "f32[*S]", "grad": "f32[*S]", "exp_avg": "f32[*S]", "exp_avg_sq": "f32[*S]"},
    output=["f32[*S]", "f32[*S]", "f32[*S]"],
    axes={"S": Shapes(1, 3)},
    fill={"exp_avg_sq": fills.positive(0.0)},
    options={
        "step": (1, 2, 10, 100, 10000),
        "lr": (1e-3, 0.01, 0.5),
        "beta1": (0.9, 0.5, 0.0),
        "beta2": (0.999, 0.9, 0.5),
        "eps": (1e-8, 1e-3, 0.5),
        "weight_decay": (0.01, 0.0, 0.5),
    },
    mutates=("param", "exp_avg", "exp_avg_sq"),
    aliases=("adamw_step",),
    layouts=("contiguous", "transposed", "strided", "offset", "expanded"),
    examples=[
        *[dict(FIRST, S=[10, 5], weight_decay=decay) for decay in (0.01, 0.1)],
        dict(S=[10, 5], step=100, layout={"param": "transposed", "exp_avg": "strided"}),
        dict(S=[1025], step=3, lr=0.1, beta2=0.9, weight_decay=0.5, fill="both"),
        dict(FIRST, S=[8], step=5, grad="zeros", lr=0.1),
    ],
    sizes={"1k": dict(S=[2**10], step=1), "1m": dict(S=[2**20], step=1), "64m": dict(S=[2**26], step=1)},
)
def AdamW(param, grad, exp_avg, exp_avg_sq, step, lr=0.001, beta1=0.9, beta2=0.999, eps=1e-08, weight_decay=0.01):
    param.mul_(1 - lr * weight_decay)
    exp_avg.mul_(beta1).add_((1 - beta1) * grad)
    exp_avg_sq.mul_(beta2).add_((1 - beta2) * grad**2)
    root = (exp_avg_sq / (1 - beta2**step)).sqrt() + eps
    return param.sub_(lr / (1 - beta1**step) * exp_avg / root), exp_avg, exp_avg_sq
