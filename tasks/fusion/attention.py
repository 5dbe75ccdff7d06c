"""Scaled dot-product attention: softmax(q @ k^T * softmax_scale, over keys) @ v, for every batch and head.

`softmax_scale` is any number, or None for 1 / sqrt(D). With `causal=True` query i sees keys 0 to i alone. Upstream does
not look whether `out` is returned.
"""

from torch.nn import functional

from pytest_kernelbenchx import task


@task(
    inputs=dict.fromkeys("qkv", "T[B, H, L, D]"),
    output="T[B, H, L, D]",
    dtypes=("f32", "f16", "bf16"),
    axes={
        "B": (1, 2, 3),
        "H": (1, 2, 3, 5),
        "D": (1, 2, 3, 8, 15, 16, 17, 32, 40, 63, 64, 65, 80, 96, 127, 128, 129, 256, 257),
    },
    # scaled by a number that is not positive, PyTorch's mask of -inf gives NaN
    options={"softmax_scale": lambda causal: [None, 0.125, 1, 2.0] if causal else [None, 0.125, 1, -0.5, 0.0]},
    sizes={
        **{str(n): dict(B=4, H=16, L=n, D=64, causal=True) for n in (64, 1024, 4096)},
        "f16": dict(B=4, H=16, L=4096, D=128, causal=True, dtype="f16"),
    },
    # weights rounded to 16 bits before the second product, while a causal mask leaves some rows few keys
    tolerance={"f16": (2**-9, 2**-8), "bf16": (2**-6, 2**-5)},
    flops=lambda B, H, L, D, causal: {"tensor": 4 * B * H * L * L * D // (2 if causal else 1)},
    examples=[
        *[dict(B=2, H=4, L=64, D=32, causal=causal, dtype="f16", fill="both") for causal in (False, True)],
        dict(H=2, L=127, D=64, causal=True, dtype="f16"),
        dict(L=257, D=16, causal=True, out=True),
        dict(H=2, L=5, D=80, softmax_scale=0.0),
    ],
)
def attention(q, k, v, causal: bool = False, softmax_scale=None, *, out=None):
    return functional.scaled_dot_product_attention(q, k, v, is_causal=causal, scale=softmax_scale)
