"""One value put, in place, into the slices of `x` along `dim` that `index` names: x[.., index[k], ..] = value.

The order of the arguments is `dim`, `x`, `index`, `value`. `x` has one or more dimensions and any type. Indices (int64)
lie in 0 .. length - 1, may repeat, and may be none; `value` is a number that the type of `x` can hold. `x` is changed
where it is and returned. Upstream looks at the result alone, so that a changed copy passes there.
"""

import torch

from pytest_kernelbenchx import Shapes, dims, task


def moved(S, K, dim, itemsize):
    """The indices read, and those slices written that K random ones name on average."""
    length = S[dim]
    return 8 * K + int(itemsize * torch.Size(S).numel() * (1 - (1 - 1 / length) ** K))


@task(
    inputs={"x": "T[*S]", "index": "i64[K]"},
    output="T[*S]",
    dtypes=("f32", "f16", "bf16", "i64"),
    axes={"S": Shapes(1, 4), "K": (1, 2, 3, 7, 16, 17, 31, 65)},
    fill={"index": lambda rng, shape, S, dim: torch.randint(S[dim], shape, generator=rng)},
    options={
        "dim": dims,
        "value": lambda dtype: (5, -3, 0, 2**53 + 1) if dtype == "i64" else (5, 3.14, -0.5, 0, float("inf")),
    },
    mutates=("x",),
    tolerance={"exact": True},
    examples=[
        dict(dim=0, x="zeros", S=[3, 3], index=[0, 2], value=5),
        dict(dim=0, S=[64, 128], K=16, value=3.14, fill="both"),
        dict(dim=1, S=[3, 1025, 2], K=300, value=-1.5, layout={"x": "transposed"}),
        dict(dim=0, S=[5000], K=4097, value=1.0, dtype="f16"),
        dict(dim=0, S=[4, 3], K=0, value=7),
        dict(dim=-2, S=[5, 5], index=[1, 3, 4, 3], value=2**53 + 1, dtype="i64", fill="outlier"),
    ],
    sizes={
        "4k": dict(dim=0, S=[4096], K=2048, value=1.0),
        "64m": dict(dim=0, S=[1 << 26], K=1 << 23, value=1.0),
        "rows": dict(dim=0, S=[1 << 18, 512], K=1 << 17, value=1.0),
        "columns": dict(dim=1, S=[1 << 12, 1 << 15], K=1 << 14, value=1.0),
    },
    bytes=moved,
)
def index_fill_(dim, x, index, value):
    return x.index_fill_(dim, index, value)
