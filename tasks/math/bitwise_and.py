"""input & other, bit by bit; for booleans the logical and.

Both have the same type, boolean or integer, and broadcast against each other; either may have no dimension. The result
has their type. With `out` the result is written there, whatever its strides, and it is returned.
"""

import torch

from pytest_kernelbenchx import Shapes, task


def bits(rng, shape, dtype):
    """Every bit is a fair coin flip."""
    words = torch.randint(-(2**63), 2**63 - 1, shape, generator=rng)
    return words < 0 if dtype is torch.bool else words


@task(
    inputs={"input": "T[*S~]", "other": "T[*S~]"},
    output="T[...]",
    dtypes=("i32", "bool", "i64", "i16", "i8", "u8"),
    axes={"S": Shapes(0, 4, min_side=0)},
    fill={"input": bits, "other": bits},
    examples=[
        dict(input=[1, 2, 3], other=[3, 2, 1], S=[3]),
        dict(input=[True, False, True], other=[False, False, True], dtype="bool"),
        dict(input=[[1, 2], [3, 4]], other=[1, 0], S=[2, 2]),
        dict(input=[[1], [-2]], other=[[[6, 5, -(2**31)]]], S=[1, 2, 3]),
        *[dict(S=[64, 64], dtype=dtype) for dtype in ("i32", "i64")],
        dict(S=[1025], dtype="bool", out=True),
        dict(S=[0]),
    ],
    sizes={"4k": dict(S=[4096]), "1m": dict(S=[1 << 20]), "128m": dict(S=[1 << 27])},
)
def bitwise_and(input, other, out=None):
    return torch.bitwise_and(input, other, out=out)
