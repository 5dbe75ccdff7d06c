"""Scaled difference, then GELU: gelu(input - alpha * other, approximate).

`input` and `other` have one floating-point type and broadcast against each other; `other` may be a number, `alpha` is
one. The result has the type of the inputs. GELU of x is x * Phi(x), Phi the standard normal distribution function; with
`approximate="tanh"` it is x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x ** 3))), any other value but "none" raises
RuntimeError. With `out` the result is written there and it is returned.

Upstream computes x / 2 * erf(x / sqrt(2)) instead of x / 2 * (1 + erf(x / sqrt(2))) for "none", and ignores `out`.
"""

import torch

from pytest_kernelbenchx import Shapes, fills, task

PAIR = dict(input=[1.0, 2.0, 3.0], other=[0.5, 1.0, 1.5])


def above(rng, shape, kind):
    """Not so far below zero that GELU is next to nothing, and 1 + erf(x / sqrt(2)) nothing but rounding."""
    return fills.normal()(rng, shape, kind).clamp(min=-2.0)


@task(
    inputs={"input": "T[*S~]", "other": "T[*S~]"},
    output="T[...]",
    dtypes=("f32", "f16", "bf16"),
    axes={"S": Shapes(0, 4, min_side=0)},
    fill={"input": above, "other": fills.uniform(-1.5, 1.5)},
    options={"alpha": [1, 0.5, 2, -1.25, 0], "approximate": ["none", "tanh"]},
    examples=[
        *[dict(PAIR, alpha=alpha, approximate=how) for how in ("none", "tanh") for alpha in (1, 0.5)],
        *[dict(input=[-0.5, -1.0, -2.0, -30.0, 30.0, 1e-3], other=0.25, approximate=how) for how in ("none", "tanh")],
        dict(input=[1.0, -0.5, 0.25], other=[[0.75], [-0.125]], S=[2, 3], alpha=-1.25, out=True),
        *[
            dict(S=[4096], alpha=0.5, approximate=how, fill=fill)
            for how in ("none", "tanh")
            for fill in ("standard", "outlier")
        ],
        dict(S=[0]),
        dict(S=[1], approximate="erf", raises=RuntimeError),
    ],
    sizes={"4k": dict(S=[4096]), "1m": dict(S=[1 << 20]), "64m": dict(S=[1 << 26])},
)
def fused_sub_gelu(input, other, alpha=1, approximate="none", out=None):
    return torch.nn.functional.gelu(torch.sub(input, other, alpha=alpha), approximate=approximate)
