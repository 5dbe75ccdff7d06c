"""Elements gathered along a dimension, some of them then replaced: masked_fill(gather(input, dim, index), mask, value).

    output[i, j, k] = value if mask[i, j, k] else input[i, index[i, j, k], k]       for dim = 1 of three dimensions

`input` has one dimension or more, and any floating-point or integer type. `index` (int64) has as many dimensions, is no
longer than `input` in those other than `dim`, and holds 0 to input.shape[dim] - 1. `mask` is boolean and broadcasts to
`index`. `value` is a number that the type can hold. `sparse_grad` concerns the gradient alone. Upstream never passes
`out`.
"""

import torch
from hypothesis import strategies as st

from pytest_kernelbenchx import Shapes, dims, fills, task


def gathered(S):
    """Shapes of `index`: shorter than `input` along every dimension but one."""
    sides = [[st.integers(1, 2 * n + 1 if d == dim else n) for d, n in enumerate(S)] for dim in range(len(S))]
    return st.one_of([st.tuples(*lengths).map(list) for lengths in sides])


def along(S, P):
    return [dim for dim in dims(S) if all(P[d] <= S[d] for d in range(len(S)) if d != dim % len(S))]


@task(
    inputs={"input": "T[*S]", "index": "i64[*P]", "mask": "bool[*P~]"},
    output="T[*P]",
    dtypes=("f32", "f16", "bf16", "i64"),
    axes={"S": Shapes(1, 3), "P": gathered},
    fill={"index": fills.along_dim},
    options={"dim": along, "value": lambda dtype: [-1.0, 0.0, 99, -5 if dtype == "i64" else 0.5]},
    tolerance={"exact": True},
    examples=[
        dict(S=[2, 4], P=[2, 4], dim=1, value=-5.0, dtype="i64"),
        dict(S=[64, 128], P=[64, 32], dim=1, value=-1.0, fill="both"),
        dict(S=[257, 3], P=[600, 2], dim=0, value=0.5, mask=[[True, False]]),
        dict(S=[5000], P=[4097], dim=-1, value=2, dtype="f16"),
        dict(S=[3, 4, 5], P=[2, 9, 5], dim=-2, value=0.5, out=True),
    ],
    sizes={str(n): dict(S=[n, 1024], P=[n, 1024], dim=d, value=0.5) for n, d in ((32, 0), (4096, 0), (32768, 1))},
)
def fused_gather_masked_fill(input, dim, index, mask, value, *, sparse_grad=False, out=None):
    return torch.gather(input, dim, index, sparse_grad=sparse_grad).masked_fill(mask, value)
