"""Distances between the rows of two tensors, then normalised along a dimension.

    distance = |x1 - x2| + eps_distance, |.| the p-norm (sum of |x| ** p) ** (1 / p) over the last dimension
    output = distance / max(norm of distance along dim_norm, eps_norm), with p_norm for p

`x1` and `x2` have the same shape of at least two dimensions, and so has the result, without the last dimension, which
stays with length 1 under `keepdim=True`. `dim_norm` is a dimension of the result; its default, 1, needs a result of two
dimensions. `p_distance` and `p_norm` are numbers of at least 1, or infinity, which stands for the largest absolute
value. `eps_distance` is added to every distance, after the norm.
"""

import torch

from pytest_kernelbenchx import Shapes, task

ROWS = dict(x1=[[1.0, 2.0], [3.0, 4.0]], x2=[[1.0, 2.5], [2.5, 4.0]], S=[2], D=2, dim_norm=0)


@task(
    inputs={"x1": "T[*S, D]", "x2": "T[*S, D]"},
    output="T[...]",
    dtypes=("f32", "f16", "bf16"),
    axes={"S": Shapes(1, 3)},
    options={
        "p_distance": [2.0, 1.0, 3, 1.5, float("inf")],
        "eps_distance": [1e-6, 0.5, 0.01],
        "p_norm": [2, 1, 3.0, float("inf")],
        "dim_norm": lambda S, keepdim: range(-len(S) - keepdim, len(S) + keepdim),
        "eps_norm": [1e-12, 1e-3, 100.0],
    },
    examples=[
        *[dict(ROWS, p_distance=p) for p in (2.0, 1.0)],
        *[dict(S=[16, 64], D=32, p_distance=p, fill="both") for p in (2.0, 1.0)],
        dict(S=[5, 129], D=17, dim_norm=0, p_norm=1, keepdim=True, eps_distance=0.5),
        dict(S=[3, 2], D=5000, eps_norm=100.0),
        dict(S=[3], D=4, x1="ones", x2="ones", dim_norm=0),
    ],
    sizes={str(n): dict(S=[16, n], D=128) for n in (16, 2048, 32768)},
)
def normalize_pairwise_distance(
    x1, x2, p_distance=2.0, eps_distance=1e-6, keepdim=False, p_norm=2, dim_norm=1, eps_norm=1e-12
):
    distance = torch.linalg.vector_norm(x1 - x2, p_distance, -1, keepdim=keepdim) + eps_distance
    return torch.nn.functional.normalize(distance, p_norm, dim_norm, eps_norm)
