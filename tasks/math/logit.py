"""log(x / (1 - x)) of every element.

With `eps` x is first clamped to [eps, 1 - eps], where eps is one that the type can tell from 0 and 1; without it 0 and
1 give -inf and inf, and what lies outside of [0, 1] gives NaN.
"""

import torch

from pytest_kernelbenchx import fills, task


@task(
    inputs={"input": "T[*S]"},
    output="T[*S]",
    dtypes=("f32", "f16", "bf16"),
    fill={"input": fills.squashed},
    options={"eps": lambda dtype: [None, 1e-6, 1e-3, 0.1, 0.0] if dtype == "f32" else [None, 0.01, 0.1]},
    examples=[
        dict(input=[0.2, 0.3, 0.5, 0.7, 0.8], out=True),
        dict(input=[0.0, 0.1, 0.5, 0.9, 1.0], eps=1e-6, out=True),
        *[dict(input=[0.0, 1.0, -0.5, 1.5, float("nan")], eps=eps) for eps in (None, 0.25)],
        dict(S=[1024], eps=1e-6, fill="both"),
        dict(S=[0]),
    ],
    sizes={"4k": dict(S=[4096]), "1m": dict(S=[1 << 20]), "128m": dict(S=[1 << 27])},
)
def logit(input, eps=None, out=None):
    return torch.special.logit(input, eps, out=out)
