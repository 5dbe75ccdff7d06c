"""Determinant of square matrices.

`A` is [..., N, N], float32; the result is [...], one number per matrix, 0 for a singular one. Most matrices need
exchanges of rows, each of which changes the sign. The determinants drawn here are within float32's range, but the
product of a part of the pivots can be far larger or smaller than that of all.
"""

import torch

from pytest_kernelbenchx import matrices, task


@task(
    inputs={"A": "f32[*S, N, N]"},
    output="f32[*S]",
    axes={"S": matrices.BATCHES, "N": matrices.LONG_SIDES},
    fill={"A": matrices.determinate},
    flops=lambda S, N: {"linalg": torch.Size(S).numel() * 2 * N**3 // 3},
    examples=[
        dict(A=[[4.0, 7.0], [2.0, 6.0]]),
        dict(A=[[0.0, 2.0, 0.0], [0.0, 0.0, 4.0], [8.0, 0.0, 0.0]]),
        dict(A=[[0.0, 0.0, 3.0], [0.0, 5.0, 0.0], [7.0, 0.0, 0.0]]),
        dict(A="zeros", S=[], N=4),
        *[dict(S=[], N=4, fill="both", seed=seed) for seed in (1, 2, 3)],
        dict(S=[7], N=33),
        dict(S=[2], N=70),
        dict(A=[[4.0, 2.0, 2.0], [2.0, 1.0, 3.0], [2.0, 1.0, 5.0]]),
    ],
    sizes={"16": dict(S=[], N=16), "512": dict(S=[], N=512), "4k": dict(S=[], N=4096), "batch": dict(S=[16384], N=32)},
)
def det(A):
    return torch.linalg.det(A)
