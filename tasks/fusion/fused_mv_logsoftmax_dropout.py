"""Product of a matrix and a vector, log-softmax, then dropout: dropout(log_softmax(input @ vec, dim), p, training).

`input` is [N, K] and `vec` [K], both float32 or both float16; the result is [N] of the same type. The log-softmax of x
is x - log(sum(exp(x))), taken over all N elements: `dim` is 0 or -1, which is the same. In training each element of it
is, independently, set to 0 with probability `p` or else multiplied by 1 / (1 - p); with `training=False` dropout does
nothing. `inplace` lets dropout overwrite what it gets and has no effect that can be seen: no input is mutated. `out`,
if given, receives the result and is returned. Sums are taken in float32. A `p` outside 0 to 1 raises ValueError.

Random numbers need not be PyTorch's, but they must differ after torch.manual_seed with another seed; upstream asks for
PyTorch's own stream.
"""

from torch.nn import functional

from pytest_kernelbenchx import Dropout, task


@task(
    inputs={"input": "T[N, K]", "vec": "T[K]"},
    output="T[N]",
    dtypes=("f32", "f16"),
    options={
        "p": (0.5, 0.1, 0.3, 0.0),
        "training": (True, True, False),
        "inplace": (False, True),
        "dim": (0, -1),
    },
    random=Dropout(),
    examples=[
        dict(N=3, K=4),
        dict(N=3, K=4, p=0.2),
        dict(N=3, K=4, training=False),
        dict(N=3, K=4, inplace=True),
        *[
            dict(N=128, K=256, p=0.1, training=training, fill=fill, dtype=dtype)
            for training in (False, True)
            for fill in ("standard", "outlier")
            for dtype in ("f32", "f16")
        ],
        dict(N=5000, K=13, dim=-1, out=True),
        dict(N=1025, K=3, p=1.0),
        dict(N=2, K=2, p=1.5, raises=ValueError),
    ],
    sizes={
        "256": dict(N=256, K=256, dtype="f16"),
        "4k": dict(N=4096, K=4096, dtype="f16"),
        "16k": dict(N=16384, K=16384, dtype="f16"),
        "16k_f32": dict(N=16384, K=16384),
    },
)
def fused_mv_logsoftmax_dropout(input, vec, p=0.5, training=True, inplace=False, dim=0, *, out=None):
    return functional.dropout(functional.log_softmax(input @ vec, dim), p, training, inplace)
