"""Scaled dot-product attention: softmax(q @ k^T * softmax_scale, over keys) @ v, for every batch and head.

`q`, `k` and `v` are [B, H, L, D] of one floating-point type; the result has the same shape and type, and everything is
computed in float32 (for float32 inputs without TF32). `softmax_scale` is any number, 1 / sqrt(D) where it is None. With
`causal=True` query i sees keys 0 to i alone. Nothing is mutated. With `out` the result is written there and it is
returned; upstream does not look whether it is.
"""

from torch.nn import functional

from pytest_kernelbenchx import task


@task(
    inputs={"q": "T[B, H, L, D]", "k": "T[B, H, L, D]", "v": "T[B, H, L, D]"},
    output="T[B, H, L, D]",
    dtypes=("f32", "f16", "bf16"),
    axes={"B": (1, 2, 3), "H": (1, 2, 3, 5)},
    options={
        "causal": [False, True],
        # scaled by a number that is not positive, PyTorch's mask of -inf gives NaN
        "softmax_scale": lambda causal: [None, 0.125, 1, 2.0] if causal else [None, 0.125, 1, -0.5, 0.0],
    },
    sizes={
        "64": dict(B=2, H=8, L=64, D=64, causal=True),
        "1k": dict(B=2, H=8, L=1024, D=64, causal=True),
        "4k": dict(B=4, H=16, L=4096, D=64, causal=True),
        "4k_f16": dict(B=4, H=16, L=4096, D=128, causal=True, dtype="f16"),
    },
    # weights rounded to 16 bits before the second product, while a causal mask leaves some rows few keys
    tolerance={"f16": (2**-9, 2**-8), "bf16": (2**-6, 2**-5)},
    flops=lambda B, H, L, D, causal: {"tensor": 4 * B * H * L * L * D // (2 if causal else 1)},
    examples=[
        dict(B=1, H=2, L=128, D=64, dtype="f16"),
        dict(B=1, H=2, L=127, D=64, causal=True, dtype="f16"),
        dict(B=1, H=2, L=64, D=32, softmax_scale=0.125, out=True),
        *[
            dict(B=2, H=4, L=64, D=32, causal=causal, fill=fill, dtype="f16")
            for causal in (False, True)
            for fill in ("standard", "outlier")
        ],
        dict(B=1, H=1, L=257, D=16, causal=True),
        dict(B=1, H=2, L=5, D=80, softmax_scale=0.0),
        dict(B=1, H=1, L=1, D=1),
    ],
)
def attention(q, k, v, causal: bool = False, softmax_scale=None, *, out=None):
    return functional.scaled_dot_product_attention(q, k, v, is_causal=causal, scale=softmax_scale)
