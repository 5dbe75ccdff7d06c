"""Batched matrix product, RMS normalisation of its rows, GELU, then dropout.

    x = input1 @ input2
    y = x / sqrt(mean of x ** 2 over the last dimension + eps)
    output = dropout(gelu(y, approximate), dropout_p, training)

`input1` is [B, M, K] and `input2` [B, K, N]. `normalized_shape` is N, or (N,); anything else raises RuntimeError.
Upstream never passes `out`.
"""

import torch
from torch.nn import functional

from pytest_kernelbenchx import Dropout, task


def size(n, **more):
    return dict(B=32, M=n, K=n, N=n, normalized_shape=n, **more)


@task(
    inputs={"input1": "T[B, M, K]", "input2": "T[B, K, N]"},
    output="T[B, M, N]",
    dtypes=("f32", "f16"),
    axes={"B": (1, 2, 3, 5)},
    options={"normalized_shape": lambda N: [N, (N,), [N]], "eps": [1e-5, 1e-3, 1.0]},
    random=Dropout(p="dropout_p"),
    sizes={"256": size(256), "2k": size(2048), "2k_f16": size(2048, dtype="f16")},
    flops=lambda B, M, K, N: {"tensor": 2 * B * M * K * N},
    examples=[
        dict(B=4, M=16, K=32, N=64, normalized_shape=64, approximate="tanh", fill="both"),
        dict(B=4, M=16, K=32, N=64, normalized_shape=64, approximate="tanh", training=False, fill="both"),
        dict(B=2, M=65, K=33, N=70, normalized_shape=(70,), eps=1.0, training=False, out=True, dtype="f16"),
        dict(M=3, K=2, N=1025, normalized_shape=1025, training=False),
        dict(B=2, M=16, K=8, N=16, normalized_shape=16, dropout_p=1.0),
        dict(input1=[[[0.0]], [[1e-3]]], input2=[[[1.0]], [[1.0]]], normalized_shape=1, training=False),
        dict(M=3, K=4, N=5, normalized_shape=4, raises=RuntimeError),
    ],
)
def fused_bmm_rmsnorm_gelu_dropout(
    input1, input2, normalized_shape, dropout_p=0.1, eps=1e-5, training=True, approximate="none", *, out=None
):
    shape = [normalized_shape] if isinstance(normalized_shape, int) else list(normalized_shape)
    normalised = functional.rms_norm(torch.bmm(input1, input2), shape, eps=eps)
    return functional.dropout(functional.gelu(normalised, approximate=approximate), dropout_p, training)
