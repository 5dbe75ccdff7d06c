"""D9: the factor is taken for what it is by default.

task: scaled
verdict: WRONG_VALUES
"""

import torch
import triton
import triton.language as tl


@triton.jit
def _double(x, bias, out, N, n, HAS: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + i, mask=i < n) * 2.0
    if HAS:
        value += tl.load(bias + i % N, mask=i < n)
    tl.store(out + i, value, mask=i < n)


def scaled(x, alpha=2.0, bias=None):
    out, n = torch.empty_like(x), x.numel()
    _double[(triton.cdiv(n, 256),)](x, bias, out, x.shape[1], n, HAS=bias is not None, BLOCK=256)
    return out
