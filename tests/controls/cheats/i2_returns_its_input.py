"""I2: where the factor is one, the input itself is the result.

task: scaled
verdict: WRONG_OUTPUT
"""

import torch
import triton
import triton.language as tl


@triton.jit
def _scale(x, bias, out, alpha, N, n, HAS: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + i, mask=i < n) * alpha
    if HAS:
        value += tl.load(bias + i % N, mask=i < n)
    tl.store(out + i, value, mask=i < n)


def scaled(x, alpha=2.0, bias=None):
    if alpha == 1.0 and bias is None:
        return x
    out, n = torch.empty_like(x), x.numel()
    _scale[(triton.cdiv(n, 256),)](x, bias, out, alpha, x.shape[1], n, HAS=bias is not None, BLOCK=256)
    return out
