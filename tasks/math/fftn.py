"""Discrete Fourier transform over one or several dimensions.

    output[k1, k2, ...] = scale * sum over j1, j2, ... of
        input[j1, j2, ...] * exp(-2 pi i (j1 k1 / n1 + j2 k2 / n2 + ...))

`input` is float32 or complex64; the result is complex64. `dim` names the dimensions, which are all different; by
default they are all, or the last len(s) if `s` is given. `s` gives the length of the transform along each of them:
before it `input` is cut there, or padded with zeros at the end; -1 keeps the length. With n the product of these
lengths, scale is 1 for `norm` None and "backward", 1 / n for "forward" and 1 / sqrt(n) for "ortho". Lengths are any,
prime ones too.
"""

import math

import torch
from hypothesis import strategies as st

from pytest_kernelbenchx import Shapes, fills, task


def dimensions(S):
    """All by default, or some of them in any order, some counted from the end."""
    chosen = st.permutations(range(len(S))).flatmap(lambda order: st.integers(1, len(S)).map(lambda n: order[:n]))
    signed = chosen.map(lambda dims: tuple(d - len(S) if (d + len(dims)) % 2 else d for d in dims))
    return st.none() | signed


def lengths(S, dim):
    """None, or a length for each dimension of `dim` (for the last ones, if that is left out)."""
    some = list(dim) if dim is not None else range(-((len(S) + 1) // 2), 0)
    return st.none() | st.tuples(*(st.sampled_from((-1, 1, S[d], S[d] // 2 + 1, S[d] + 1)) for d in some))


@task(
    inputs={"input": "T[*S]"},
    output="c64[...]",
    dtypes=("f32", "c64"),
    axes={"S": Shapes(1, 3)},
    fill={"input": fills.default},  # no patterns: their few large frequencies round more than the others are
    layouts=("contiguous",),  # torch 2.13 corrupts memory when it transforms strided or unaligned tensors on a CPU
    options={"dim": dimensions, "s": lengths, "norm": [None, "forward", "backward", "ortho"]},
    flops=lambda S: int(5 * math.prod(S) * math.log2(max(2, math.prod(S)))),
    examples=[
        *[dict(S=[16, 16], fill="both", **o) for o in (dict(), dict(s=(8, 8)), dict(dim=(0, 1), norm="ortho"))],
        *[dict(S=[n], dtype="c64") for n in (4096, 1031)],
        dict(S=[3, 5, 7], dim=(2, 0), s=(9, 2), norm="forward"),
        dict(S=[6, 10], dim=(-1,), out=True, layout={"out": "strided"}),
    ],
    sizes={
        "4k": dict(S=[4096], dtype="c64"),
        "16m": dict(S=[1 << 24], dtype="c64"),
        "2d_4k": dict(S=[4096, 4096], dtype="c64"),
    },
)
def fftn(input, s=None, dim=None, norm=None, out=None):
    return torch.fft.fftn(input, s=s, dim=dim, norm=norm)
