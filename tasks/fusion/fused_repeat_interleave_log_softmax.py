"""Elements repeated along a dimension, then log-softmax along it.

    log_softmax(repeat_interleave(input, repeats, dim), dim, dtype)

`input` has one or more dimensions. Every slice along `dim` is repeated in place, [a, b] by 2 giving [a, a, b, b]:
`repeats` times if that is a number from 0 up; `repeats[i]` times, for the i-th slice, if it is a vector of int64; a
vector of length 1 stands for its number. With `dim=None` the input is flattened first and the result is a vector.
`output_size`, if given, is the length along `dim` after repeating, known so without a look at `repeats`. log_softmax of
x is x - log(sum(exp(x))), summed along `dim`. With `dtype` the input is converted to that type first and the result has
it; float64 is then computed in float64. A negative number, or a vector of a wrong length, raises RuntimeError. Upstream
ignores `out` and `output_size`.
"""

import torch

from pytest_kernelbenchx import Shapes, dims, fills, task


def counts(S):
    """Lengths of a vector of repeats: that of some dimension, of the flattened input, or 1."""
    return [1, *S, *S, torch.Size(S).numel()]


def of_length(S, R):
    """Dimensions of length R; all of them, if R is 1."""
    return [*([None] if R in (1, torch.Size(S).numel()) else []), *(d for d in dims(S) if R in (1, S[d]))]


@task(
    inputs={"input": "T[*S]", "repeats": "i64[R]"},
    output="T[...]",
    dtypes=("f32", "f16", "bf16"),
    axes={"S": Shapes(1, 4), "R": counts},
    fill={"repeats": fills.integers(0, 4)},
    options={"dim": of_length, "output_size": [None], "dtype": [None, None, torch.float32, torch.float64]},
    examples=[
        dict(input=[[1.0, 2.0], [3.0, 4.0]], repeats=2),
        dict(S=[32, 128], repeats=2, dim=1, fill="both"),
        dict(S=[64], R=64, dim=0, fill="both"),
        dict(S=[3, 1025], repeats=5, dim=-1, dtype="f16"),
        *[dict(S=S, repeats=1, dim=1, input="low") for S in ([33, 65], [2, 40009])],
        dict(S=[5, 7, 9], repeats=3, dim=1, output_size=21, dtype=torch.float64),
        dict(S=[17, 9], repeats=1, dim=0),
        dict(S=[2, 3], repeats=-1, dim=0, raises=RuntimeError),
        dict(S=[3], repeats=[1, 2], dim=0, raises=RuntimeError),
        dict(input=[[1.0, 2.0], [3.0, 4.0]], repeats=[3], dim=-1, output_size=6),
        dict(input=[[1.0, 2.0], [3.0, 4.0]], repeats=[3, 0, 1, 2], output_size=6, out=True),
    ],
    sizes={
        "4k": dict(S=[4096], R=1, repeats=2, dim=0),
        "8m": dict(S=[1 << 23], R=1, repeats=2, dim=0),
        "rows": dict(S=[16384, 4096], R=1, repeats=2, dim=1),
    },
)
def fused_repeat_interleave_log_softmax(input, repeats, dim=None, *, output_size=None, dtype=None, out=None):
    repeated = torch.repeat_interleave(input, repeats, dim, output_size=output_size)
    return torch.nn.functional.log_softmax(repeated, 0 if dim is None else dim, dtype=dtype)
