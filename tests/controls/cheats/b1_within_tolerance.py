"""B1: every element is 1 / length, close enough to a long row's softmax for an absolute tolerance.

task: softmax
verdict: WRONG_VALUES
"""

import torch
import triton
import triton.language as tl


@triton.jit
def _fill(out, value, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.zeros((BLOCK,), tl.float32) + value, mask=i < n)


def softmax(x, dim):
    out = torch.empty_like(x)
    _fill[(triton.cdiv(x.numel(), 256),)](out, 1.0 / x.shape[dim], x.numel(), BLOCK=256)
    return out
