"""Sum over shared axes of two tensors, then one over the square root: rsqrt(tensordot(a, b, dims)).

    output[p, q] = 1 / sqrt(sum over k of a[p, k] * b[k, q])

`a` and `b` are float32, of any shapes. `dims` is a number n: the last n axes of `a` are summed with the first n of `b`,
in this order; or a pair of lists (or tuples), the axes of `a` and those of `b` that belong together, in any order, also
negative. No axes (0, or two empty lists) give all products. The result has the other axes of `a`, in their order, then
those of `b`. Nothing is mutated. A negative sum gives NaN, a sum of 0 infinity. The sum is in full float32 precision,
so that TF32 is wrong.

`a` is [*P, *K, *R] here and `b` [*Q, *J, *T], where J is K in this order or the other way round.
"""

import math

import torch

from pytest_kernelbenchx import Shapes, fills, task


def dimensions(P, K, R, Q, J):
    """The ways to say that K of `a` and J of `b` are summed."""
    left, right = list(range(len(P), len(P) + len(K))), list(range(len(Q), len(Q) + len(J)))[:: 1 if J == K else -1]
    negative = tuple(axis - len(P + K + R) for axis in left)
    number = [] if R or Q or J != K else [len(K)]
    return [[left, right], (negative, tuple(right)), [left[::-1], right[::-1]], *number]


@task(
    inputs={"a": "f32[*P, *K, *R]", "b": "f32[*Q, *J, *T]"},
    output="f32[*P, *R, *Q, *T]",
    axes={
        **{name: Shapes(0, 1, longest=129) for name in "PRQT"},
        "K": Shapes(0, 2),
        "J": lambda K: [K, K[::-1]],
    },
    fill={"a": fills.positive(0.001), "b": fills.positive(0.001)},
    options={"dims": dimensions},
    examples=[
        dict(a=[1.0, 2.0, 3.0], b=[4.0, 5.0, 6.0], dims=1, P=[], K=[3], R=[], Q=[], J=[3], T=[]),
        dict(P=[2], K=[2], R=[], Q=[], J=[2], T=[2], dims=[[1], [0]]),
        dict(P=[2, 2], K=[2], R=[], Q=[2], J=[2], T=[2], dims=[[2], [1]]),
        *[dict(P=[32], K=[64], R=[], Q=[], J=[64], T=[32], dims=1, fill=fill) for fill in ("standard", "outlier")],
        *[
            dict(P=[4], K=[8, 16], R=[], Q=[], J=[16, 8], T=[4], dims=[[2, 1], [0, 1]], fill=fill)
            for fill in ("standard", "outlier")
        ],
        dict(P=[3], K=[5, 7], R=[2], Q=[4], J=[5, 7], T=[65], dims=([-3, -2], [1, 2])),
        dict(P=[], K=[5000], R=[2], Q=[3], J=[5000], T=[], dims=[[0], [1]]),
        dict(a=[-1.0, 0.0, 4.0], b=[1.0, 4.0], P=[3], K=[], R=[], Q=[2], J=[], T=[], dims=0),
    ],
    sizes={
        "256": dict(P=[256], K=[256], R=[], Q=[], J=[256], T=[256], dims=1),
        "2k": dict(P=[2048], K=[2048], R=[], Q=[], J=[2048], T=[2048], dims=1),
        "4k": dict(P=[4096], K=[64, 64], R=[], Q=[], J=[64, 64], T=[4096], dims=2),
    },
    flops=lambda P, K, R, Q, T: {"tensor": 2 * math.prod(P + K + R + Q + T)},
)
def tensordot_rsqrt(a, b, dims):
    return torch.rsqrt(torch.tensordot(a, b, dims))
