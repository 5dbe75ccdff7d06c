"""Tensors put side by side, then divided: div(hstack(tensors), divisor, rounding_mode).

`tensors` is a list (or tuple) of one or more. Vectors are joined end to end; tensors of two or more dimensions are
joined along the second and agree in all others. `divisor` is a number, or a tensor of the same type that broadcasts to
the joined one. `rounding_mode` is None for true division, "trunc" to round the quotient towards zero or "floor" to
round it down. The result has the type of the inputs, but float32 where integers are divided truly or by a Python float.
"""

import torch

from pytest_kernelbenchx import fills, task


def away_from_zero(rng, shape, dtype, kind):
    """Divisors of either sign: 1 to 20 for integers, 0.25 to 4 in size for floats."""
    whole = dtype is torch.int64
    size = fills.integers(1, 21)(rng, shape) if whole else fills.uniform(0.25, 4)(rng, shape, kind)
    return size * torch.where(fills.bernoulli()(rng, shape), 1, -1)


@task(
    inputs={"tensors": "list[T[*M, N_i, *R]]", "divisor": "T[*M~, 1, *R] | number"},
    output="T[...]",
    dtypes=("f32", "f16", "bf16", "i64"),
    axes={"M": [[], [1], [2], [7], [16], [17]], "R": [[], [], [1], [3]]},
    where=lambda M, R: bool(M) or not R,  # three dimensions or more join along the second
    fill={"divisor": away_from_zero},
    options={"rounding_mode": [None, "floor", "trunc"]},
    examples=[
        dict(tensors=[[[1.0, 2.0]], [[3.0]]], divisor=[2.0, -4.0, 0.5], M=[1], R=[], N_i=[2, 1]),
        dict(tensors=[[-7, 7], [6]], divisor=[2, 2, -4], M=[], R=[], N_i=[2, 1], dtype="i64", rounding_mode="floor"),
        *[dict(M=[128], R=[], N_i=[64, 64], divisor=2.0, rounding_mode=how, fill="both") for how in (None, "floor")],
        dict(M=[3], R=[], N_i=[5000, 1, 4097], divisor=-1.5),
    ],
    sizes={
        "4k": dict(M=[], R=[], N_i=[4096, 4096], divisor=2.0),
        "1m": dict(M=[1024], R=[], N_i=[512, 512], divisor=2.0),
        "128m": dict(M=[], R=[], N_i=[1 << 26, 1 << 26], divisor=2.0),
    },
)
def fused_hstack_div(tensors, divisor, *, rounding_mode=None, out=None):
    return torch.div(torch.hstack(tensors), divisor, rounding_mode=rounding_mode)
