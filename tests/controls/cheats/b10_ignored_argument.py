"""B10: the bias is never added.

task: scaled
verdict: WRONG_VALUES
"""

import torch
import triton
import triton.language as tl


@triton.jit
def _scale(x, out, alpha, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n) * alpha, mask=i < n)


def scaled(x, alpha=2.0, bias=None):
    out = torch.empty_like(x)
    _scale[(triton.cdiv(x.numel(), 256),)](x, out, alpha, x.numel(), BLOCK=256)
    return out
