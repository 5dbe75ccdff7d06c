"""Distances between all pairs of normalised vectors: every row of x1 to every row of x2.

    u[i] = x1[i] / max(|x1[i]|, eps_norm),  v[j] = x2[j] / max(|x2[j]|, eps_norm)
    output[i, j] = max(|u[i] - v[j]|, eps_distance)

|x| is the p_norm-norm, (sum of |x[d]| ** p_norm) ** (1 / p_norm), or the largest |x[d]| for inf; `p_norm` is at least
1. `x1` is [N, D] and `x2` [M, D], both float32; the result is [N, M], or [N, M, 1] with `keepdim=True`. It is not the
distance of corresponding rows, as the name suggests. Small distances must be as precise as large ones, in relation to
the latter: |u|^2 + |v|^2 - 2 u.v in float32 is not.
"""

import torch

from pytest_kernelbenchx import task


@task(
    inputs={"x1": "f32[N, D]", "x2": "f32[M, D]"},
    output="f32[...]",
    options={
        "p_norm": [2.0, 1.0, 3.0, 1.5, float("inf")],
        "eps_norm": [1e-12, 1e-6, 1.5, 20.0],
        "eps_distance": [1e-6, 1e-3, 0.5, 1.25],
    },
    flops=lambda N, M, D: {"tensor": 2 * N * M * D},  # at least: by products, for p_norm = 2
    examples=[
        dict(x1=[[1.0, 2.0], [3.0, 4.0]], x2=[[5.0, 6.0], [7.0, 8.0]]),
        dict(x1=[[1.0, 2.0], [3.0, 4.0]], x2=[[5.0, 6.0], [7.0, 8.0]], eps_norm=8.0, eps_distance=0.25),
        dict(N=32, M=32, D=128, keepdim=True, fill="both"),
        dict(N=33, M=65, D=129, p_norm=3.0),
        dict(N=2, M=3, D=1025),
        dict(x1=[[3.0, 4.0], [0.0, 0.0]], x2=[[6.0, 8.0], [0.0, 0.0], [-3.0, 4.01], [3.0, 4.001]]),
    ],
    sizes={label: dict(N=n, M=n, D=128) for label, n in (("256", 256), ("2k", 2048), ("8k", 8192))},
)
def fused_pairwise_distance_normalize(x1, x2, p_norm=2.0, eps_norm=1e-12, eps_distance=1e-6, keepdim=False):
    u, v = (torch.nn.functional.normalize(x, p_norm, -1, eps_norm) for x in (x1, x2))
    distances = torch.cdist(u, v, p_norm, "donot_use_mm_for_euclid_dist").clamp(min=eps_distance)
    return distances.unsqueeze(-1) if keepdim else distances
