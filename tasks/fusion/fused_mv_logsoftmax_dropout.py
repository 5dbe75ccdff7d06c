"""Product of a matrix and a vector, log-softmax, then dropout: dropout(log_softmax(input @ vec, dim), p, training).

`input` is [N, K] and `vec` [K]; the result is [N]. The log-softmax of x is x - log(sum(exp(x))), taken over all N
elements: `dim` is 0 or -1, which is the same. `inplace` lets dropout overwrite what it gets and has no effect that can
be seen.
"""

from torch.nn import functional

from pytest_kernelbenchx import Dropout, task


@task(
    inputs={"input": "T[N, K]", "vec": "T[K]"},
    output="T[N]",
    dtypes=("f32", "f16"),
    options={"dim": (0, -1)},
    random=Dropout(),
    examples=[
        dict(N=3, K=4),
        *[dict(N=128, K=256, p=0.1, training=on, fill="both", dtype=("f32", "f16")) for on in (False, True)],
        dict(N=5000, K=13, dim=-1, out=True),
        dict(N=1025, K=3, p=1.0),
        dict(N=2, K=2, p=1.5, raises=ValueError),
        dict(N=3, K=4, training=False, inplace=True),
    ],
    sizes={
        **{label: dict(N=n, K=n, dtype="f16") for label, n in (("256", 256), ("4k", 4096), ("16k", 16384))},
        "16k_f32": dict(N=16384, K=16384),
    },
)
def fused_mv_logsoftmax_dropout(input, vec, p=0.5, training=True, inplace=False, dim=0, *, out=None):
    return functional.dropout(functional.log_softmax(input @ vec, dim), p, training, inplace)
