"""Batched matrix product, RMS norm, GELU, dropout, then a subtraction.

    x = input1 @ input2
    y = x / sqrt(mean of x ** 2 over the last dimension + eps)
    output = dropout(gelu(y, approximate), dropout_p, training) - other

`input1` is [B, M, K], `input2` [B, K, N], and `other` broadcasts to the result. `normalized_shape` is N, as an integer
or in a list; another one raises RuntimeError. Upstream does not subtract `other`.
"""

from torch.nn import functional

from pytest_kernelbenchx import Dropout, task


def size(n, **more):
    return dict(B=32, M=n, K=n, N=n, O=[32, n, n], normalized_shape=n, **more)


MIDDLE = dict(B=4, M=16, K=32, N=65, O=[4, 16, 65], normalized_shape=65)


@task(
    inputs={"input1": "T[B, M, K]", "input2": "T[B, K, N]", "other": "T[*O]"},
    output="T[B, M, N]",
    dtypes=("f32", "f16"),
    axes={"B": (1, 2, 3, 5), "O": lambda B, M, N: [[B, M, N], [B, M, N], [M, N], [B, 1, N], [M, 1], []]},
    options={"normalized_shape": lambda N: (N, [N]), "eps": (1e-5, 1e-3, 1.0, 30.0)},
    random=Dropout("dropout_p"),
    examples=[
        *[dict(MIDDLE, dropout_p=0.1, training=on, approximate="tanh", fill="both") for on in (False, True)],
        dict(MIDDLE, training=False, input1="zeros", out=True),
        dict(MIDDLE, dropout_p=1.0),
        dict(MIDDLE, normalized_shape=3, raises=RuntimeError),
    ],
    sizes={"256": size(256), "1536": size(1536), "1536_f16": size(1536, dtype="f16")},
    flops=lambda B, M, K, N: {"tensor": 2 * B * M * K * N},
)
def fused_bmm_rmsnorm_gelu_dropout_sub(
    input1, input2, other, normalized_shape, dropout_p=0.5, training=True, approximate="none", eps=1e-5, *, out=None
):
    shape = [normalized_shape] if isinstance(normalized_shape, int) else normalized_shape
    x = functional.rms_norm(input1 @ input2, shape, eps=eps)
    return functional.dropout(functional.gelu(x, approximate=approximate), dropout_p, training) - other
