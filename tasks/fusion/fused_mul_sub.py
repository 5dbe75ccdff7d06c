"""input * other_mul - alpha * other_sub.

`input`, `other_mul` and `other_sub` broadcast against each other; each may be a number instead, `alpha` is one. The
result has the type of the tensors; of three numbers it is a Python number. Upstream never passes `out`.
"""

from pytest_kernelbenchx import task


@task(
    inputs={"input": "T[*S~]", "other_mul": "T[*S~] | number", "other_sub": "T[*S~] | number"},
    output="T[...]",
    dtypes=("f32", "f16", "bf16"),
    options={"alpha": [1, -0.5, 2, 0.25, 0]},
    examples=[
        dict(input=[1.0, 2.0, 3.0], other_mul=[0.5, 1.5, 2.5], other_sub=[0.1, 0.2, 0.3]),
        dict(input=3.0, other_mul=2.0, other_sub=0.5),
        dict(input=-1.5, other_mul=[0.5, 1.5, 2.5], other_sub=[[0.1], [0.2]], S=[2, 3], alpha=2),
        dict(S=[64, 512], alpha=-0.5, fill="both"),
        dict(S=[0]),
        dict(input=-1.5, other_mul=2, other_sub=[0.1, 0.2, 0.3], out=True),
    ],
    sizes={"4k": dict(S=[4096]), "1m": dict(S=[1 << 20]), "64m": dict(S=[1 << 26])},
)
def fused_mul_sub(input, other_mul, other_sub, alpha=1, out=None):
    return input * other_mul - alpha * other_sub
