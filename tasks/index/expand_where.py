"""`input` broadcast to a shape, then replaced by `other` where a condition is false.

    output = where(cond, input.expand(target_sizes), other)

`cond` is boolean. `target_sizes` is a list, tuple or torch.Size: what `input` broadcasts to; -1 keeps the length of a
dimension that `input` has. `cond` and `other` broadcast to the same shape, which is that of the result. No arithmetic
is done: NaN in what is not chosen does not show.
"""

import torch
from hypothesis import strategies as st

from pytest_kernelbenchx import task


def smaller(S):
    """Shapes that broadcast to S."""
    kept = st.tuples(*[st.sampled_from((n, 1)) for n in S]).map(list)
    return st.one_of(st.just(S), kept, st.tuples(kept, st.integers(0, len(S))).map(lambda drawn: drawn[0][drawn[1] :]))


def targets(S, P):
    """Ways to write S; where `input` is not broadcast, also with -1."""
    new = len(S) - len(P)
    return [S, tuple(S), [-1 if k >= new and n == P[k - new] else n for k, n in enumerate(S)]]


@task(
    inputs={"input": "T[*P]", "cond": "bool[*Q]", "other": "T[*S~]"},
    output="T[*S]",
    dtypes=("f32", "f16", "bf16", "i64"),
    axes={"P": smaller, "Q": smaller},
    options={"target_sizes": targets},
    tolerance={"exact": True},
    examples=[
        dict(S=[2, 3], input=[[1.0], [float("nan")]], cond=[[True, False, True]], target_sizes=[-1, 3]),
        dict(S=[64, 512], P=[1, 512], Q=[64, 1], target_sizes=(64, 512), fill="both"),
        dict(S=[5, 1025], P=[5, 1025], Q=[1025], target_sizes=[-1, -1], dtype="f16"),
        dict(S=[4097], P=[1], Q=[4097], target_sizes=[4097], dtype="i64", fill="outlier"),
        dict(S=[2, 3], P=[3], Q=[1], cond="ones", target_sizes=(2, -1)),
        dict(S=[0, 3], P=[1, 3], Q=[0, 1], target_sizes=[0, 3]),
        dict(S=[3, 2], P=[2, 2], Q=[1], target_sizes=[3, 2], raises=RuntimeError),
        dict(S=[3, 5, 7], P=[5, 1], Q=[3, 1, 7], target_sizes=[3, 5, 7], other="zeros"),
    ],
    sizes={
        label: dict(S=[m, n], P=[1, n], Q=[m, 1], target_sizes=(m, n))
        for label, m, n in (("256k", 256, 1024), ("4m", 256, 16384), ("64m", 4096, 16384))
    },
)
def expand_where(input, target_sizes, cond, other):
    return torch.where(cond, input.expand(target_sizes), other)
