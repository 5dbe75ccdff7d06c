"""Cosine similarity of two tensors along a dimension, after both were normalised along it.

    n1 = x1 / max(|x1|, eps_norm), |.| the p-norm with p = p_norm; n2 likewise from x2
    output = sum of n1 * n2 / (max(|n1|, eps_similarity) * max(|n2|, eps_similarity)), |.| the Euclidean norm

`x1` and `x2` have the same shape of at least one dimension, and so has the result, without dimension `dim`. `p_norm` is
a number of at least 1, or infinity, which stands for the largest absolute value. The normalisation does not matter as
long as no norm is below its eps; a zero slice gives 0. Upstream never passes `eps_similarity`, so that plain cosine
similarity passes there.
"""

import torch

from pytest_kernelbenchx import Shapes, dims, task


@task(
    inputs={"x1": "T[*S]", "x2": "T[*S]"},
    output="T[...]",
    dtypes=("f32", "f16", "bf16"),
    axes={"S": Shapes(1, 4)},
    options={
        "dim": dims,
        "eps_similarity": [1e-8, 0.25, 0.75, 2.0],
        "p_norm": [2, 1, 3.0, float("inf")],
        "eps_norm": [1e-12, 1e-3, 1.0, 10.0],
    },
    examples=[
        *[dict(x1=[[1.0, 2.0], [3.0, 4.0]], x2=[[2.0, 3.0], [4.0, 5.0]], dim=dim) for dim in (0, 1)],
        dict(x1=[[1.0, 0.0], [0.0, 1.0]], x2=[[0.0, 1.0], [1.0, 0.0]], p_norm=1),
        dict(x1=[[1e-10, 0.0], [0.0, 1e-10]], x2=[[1e-10, 1e-10], [1e-9, 1e-10]], eps_norm=1e-9),
        dict(x1=[[1e-10, 0.0], [0.0, 0.0]], x2=[[1e-10, 1e-10], [1.0, 1.0]]),
        *[dict(S=[64, 128], p_norm=p, fill="both") for p in (2, 1)],
        *[dict(S=[128, 65], p_norm=p, eps_similarity=0.75) for p in (1, float("inf"))],
        dict(S=[2, 5003]),
    ],
    sizes={
        "64": dict(S=[64, 1024]),
        "32k": dict(S=[32768, 1024]),
        "columns": dict(S=[8192, 8192], dim=0, dtype="bf16"),
    },
)
def normalized_cosine_similarity(x1, x2, dim=1, eps_similarity=1e-8, p_norm=2, eps_norm=1e-12):
    normalized = [torch.nn.functional.normalize(x, p_norm, dim, eps_norm) for x in (x1, x2)]
    return torch.nn.functional.cosine_similarity(*normalized, dim, eps_similarity)
