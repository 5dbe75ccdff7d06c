"""input & other, bit by bit, which are of one boolean or integer type and broadcast; for booleans the logical and."""

import torch

from pytest_kernelbenchx import fills, task


@task(
    inputs={"input": "T[*S~]", "other": "T[*S~]"},
    output="T[...]",
    dtypes=("i32", "bool", "i64", "i16", "i8", "u8"),
    fill={"input": fills.bits, "other": fills.bits},
    examples=[
        dict(input=[1, 2, 3], other=[3, 2, 1], S=[3]),
        dict(input=[True, False, True], other=[False, False, True], dtype="bool", out=True),
        dict(input=[[1], [-2]], other=[[[6, 5, -(2**31)]]], S=[1, 2, 3]),
        dict(S=[64, 64], dtype=("i32", "i64")),
        dict(S=[0]),
    ],
    sizes={"4k": dict(S=[4096]), "1m": dict(S=[1 << 20]), "128m": dict(S=[1 << 27])},
)
def bitwise_and(input, other, out=None):
    return torch.bitwise_and(input, other, out=out)
