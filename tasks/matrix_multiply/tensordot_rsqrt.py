"""Sum over shared axes of two tensors, then one over the square root: rsqrt(tensordot(a, b, dims)).

    output[p, q] = 1 / sqrt(sum over k of a[p, k] * b[k, q])

`a` and `b` are float32, of any shapes. `dims` is a number n: the last n axes of `a` are summed with the first n of `b`,
in this order; or a pair of lists (or tuples), the axes of `a` and those of `b` that belong together, in any order, also
negative. No axes (0, or two empty lists) give all products. The result has the other axes of `a`, in their order, then
those of `b`. A negative sum gives NaN, a sum of 0 infinity.

`a` is [*P, *K, *R] here and `b` [*Q, *J, *T], where J is K in this order or the other way round.
"""

import torch

from pytest_kernelbenchx import Shapes, fills, task


def dimensions(P, K, R, Q, J):
    """The ways to say that K of `a` and J of `b` are summed."""
    left, right = list(range(len(P), len(P) + len(K))), list(range(len(Q), len(Q) + len(J)))[:: 1 if J == K else -1]
    negative = tuple(axis - len(P + K + R) for axis in left)
    number = [] if R or Q or J != K else [len(K)]
    return [[left, right], (negative, tuple(right)), [left[::-1], right[::-1]], *number]


def case(K, dims, J=None, **given):
    return dict(P=[], R=[], Q=[], T=[], K=K, J=J or K, dims=dims) | given


@task(
    inputs={"a": "f32[*P, *K, *R]", "b": "f32[*Q, *J, *T]"},
    output="f32[*P, *R, *Q, *T]",
    axes={**dict.fromkeys("PRQT", Shapes(0, 1, longest=129)), "K": Shapes(0, 2), "J": lambda K: [K, K[::-1]]},
    fill={"a": fills.positive(0.001), "b": fills.positive(0.001)},
    options={"dims": dimensions},
    examples=[
        case([3], 1, a=[1.0, 2.0, 3.0], b=[4.0, 5.0, 6.0]),
        case([64], 1, P=[32], T=[32], fill="both"),
        case([8, 16], [[2, 1], [0, 1]], J=[16, 8], P=[4], T=[4], fill="both"),
        case([5, 7], ([-3, -2], [1, 2]), P=[3], R=[2], Q=[4], T=[65]),
        case([5000], [[0], [1]], R=[2], Q=[3]),
        case([], 0, a=[-1.0, 0.0, 4.0], b=[1.0, 4.0], P=[3], Q=[2]),
        case([2], [[2], [1]], P=[2, 2], Q=[2], T=[2]),
    ],
    sizes={
        "256": case([256], 1, P=[256], T=[256]),
        "2k": case([2048], 1, P=[2048], T=[2048]),
        "4k": case([64, 64], 2, P=[4096], T=[4096]),
    },
    flops=lambda P, K, R, Q, T: {"tensor": 2 * torch.Size(P + K + R + Q + T).numel()},
)
def tensordot_rsqrt(a, b, dims):
    return torch.rsqrt(torch.tensordot(a, b, dims))
