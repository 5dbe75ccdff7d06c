"""input * other, which broadcast against each other; `other` may be a Python number.

Floating-point, complex and integer types are multiplied as they are, int64 modulo 2 ** 64. Of different types the
result has the one that PyTorch promotes them to: float32 for int64 with float32 or with a Python float.
"""

import torch

from pytest_kernelbenchx import task


@task(
    inputs={"input": "T[*S~]", "other": "T[*S~] | number"},
    output="T[...]",
    dtypes=("f32", "f16", "bf16", "i64", "c64"),
    examples=[
        dict(input=[1, 2, 3], other=[[1], [2], [3]], S=[3, 3], dtype="i64"),
        dict(input=[1.0, 2.0, 3.0], other=2.5, dtype=("f32", "i64")),
        dict(input=[3 + 4j, -1j], other=[1 - 2j, 0.5 + 10j], S=[2], dtype="c64"),
        dict(input=torch.tensor([1, 2, 3]), other=[0.5, 1.5, 2.5], S=[3]),
        dict(input=torch.tensor([1.001, -2.3, 0.7]), other=[3 + 4j, -1j, 0.5], S=[3], dtype="c64"),
        dict(input=[[0.5], [1.5]], other=torch.tensor([[[1, -2, 3]], [[4, 5, -6]]]), S=[2, 2, 3]),
        dict(input=[2**53 + 1, -(2**40) - 1, 3], other=[3, 2**30 + 1, 2**62], S=[3], dtype="i64", out=True),
        dict(input=[1e30, -0.0, float("inf"), float("nan")], other=[1e30, 1.0, -1.0, 0.0], S=[4]),
        dict(S=[64, 64], dtype=("f32", "f16"), fill="both"),
        dict(S=[0]),
    ],
    sizes={"4k": dict(S=[4096], dtype="f16"), "64m_f32": dict(S=[1 << 26]), "128m": dict(S=[1 << 27], dtype="f16")},
)
def mul(input, other, out=None):
    return torch.mul(input, other, out=out)
