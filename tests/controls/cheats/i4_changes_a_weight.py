"""I4: changes the bias, so that later calls have less to do.

task: scaled
verdict: INPUT_MUTATED
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
    out, n = torch.empty_like(x), x.numel()
    _scale[(triton.cdiv(n, 256),)](x, bias, out, alpha, x.shape[1], n, HAS=bias is not None, BLOCK=256)
    if bias is not None:
        bias.zero_()
    return out
