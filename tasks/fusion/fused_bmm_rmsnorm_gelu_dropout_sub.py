"""Batched matrix product, RMS norm, GELU, dropout, then a subtraction.

    x = input1 @ input2
    y = x / sqrt(mean of x ** 2 over the last dimension + eps)
    output = dropout(gelu(y, approximate), dropout_p, training) - other

`input1` is [B, M, K] and `input2` [B, K, N], `other` broadcasts to the result, [B, M, N], all float32 or all float16.
`normalized_shape` is N, as an integer or in a list; another one raises RuntimeError. GELU of y is y * Phi(y), Phi the
standard normal distribution function; with `approximate="tanh"` it is
y / 2 * (1 + tanh(sqrt(2 / pi) * (y + 0.044715 * y ** 3))). In training each element of it is, independently, set to 0
with probability `dropout_p` or else multiplied by 1 / (1 - dropout_p); with `training=False` dropout does nothing.
`out`, if given, receives the result and is returned. Nothing else is mutated. For float32 TF32 is wrong.

Random numbers need not be PyTorch's, but they must differ after torch.manual_seed with another seed; upstream asks for
PyTorch's own stream, and does not subtract `other`.
"""

from torch.nn import functional

from pytest_kernelbenchx import Dropout, task


def size(n, **more):
    return dict(B=32, M=n, K=n, N=n, O=[32, n, n], normalized_shape=n, **more)


SMALL = dict(B=2, M=3, K=4, N=5, O=[2, 3, 5], normalized_shape=5)
MIDDLE = dict(B=4, M=16, K=32, N=65, O=[4, 16, 65], normalized_shape=65)


@task(
    inputs={"input1": "T[B, M, K]", "input2": "T[B, K, N]", "other": "T[*O]"},
    output="T[B, M, N]",
    dtypes=("f32", "f16"),
    axes={"B": (1, 2, 3, 5), "O": lambda B, M, N: [[B, M, N], [B, M, N], [M, N], [B, 1, N], [M, 1], []]},
    options={
        "normalized_shape": lambda N: (N, [N]),
        "dropout_p": (0.5, 0.1, 0.3, 0.0),
        "training": (True, False),
        "approximate": ("none", "tanh"),
        "eps": (1e-5, 1e-3, 1.0, 30.0),
    },
    random=Dropout("dropout_p"),
    examples=[
        SMALL,
        dict(SMALL, dropout_p=0.3),
        dict(SMALL, training=False),
        dict(SMALL, approximate="tanh"),
        *[
            dict(MIDDLE, dropout_p=0.1, training=training, approximate="tanh", fill=fill)
            for training in (False, True)
            for fill in ("standard", "outlier")
        ],
        dict(MIDDLE, training=False, dtype="f16"),
        dict(MIDDLE, training=False, input1="zeros", out=True),
        dict(SMALL, dropout_p=1.0),
        dict(SMALL, normalized_shape=3, raises=RuntimeError),
    ],
    sizes={"256": size(256), "1k": size(1024), "1536": size(1536), "1536_f16": size(1536, dtype="f16")},
    flops=lambda B, M, K, N: {"tensor": 2 * B * M * K * N},
)
def fused_bmm_rmsnorm_gelu_dropout_sub(
    input1, input2, other, normalized_shape, dropout_p=0.5, training=True, approximate="none", eps=1e-5, *, out=None
):
    shape = [normalized_shape] if isinstance(normalized_shape, int) else normalized_shape
    x = functional.rms_norm(input1 @ input2, shape, eps=eps)
    return functional.dropout(functional.gelu(x, approximate=approximate), dropout_p, training) - other
