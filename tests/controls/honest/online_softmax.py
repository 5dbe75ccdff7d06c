"""H23: one pass over long rows, with the sum rescaled as the maximum grows.

task: softmax
"""

import torch
import triton
import triton.language as tl


@triton.jit
def _online(x, out, N, sm, sn, BLOCK: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    top = tl.full((BLOCK,), -float("inf"), tl.float32)
    total = tl.zeros((BLOCK,), tl.float32)
    for first in range(0, N, BLOCK):
        value = tl.load(x + row * sm + (first + i) * sn, mask=first + i < N, other=-1e30)
        higher = tl.maximum(top, value)
        total = total * tl.exp(top - higher) + tl.where(first + i < N, tl.exp(value - higher), 0.0)
        top = higher
    highest = tl.max(top, 0)
    whole = tl.sum(total * tl.exp(top - highest), 0)
    for first in range(0, N, BLOCK):
        value = tl.load(x + row * sm + (first + i) * sn, mask=first + i < N, other=0.0)
        tl.store(out + row * sm + (first + i) * sn, tl.exp(value - highest) / whole, mask=first + i < N)


def softmax(x, dim):
    rows, cols, sm, sn = (*x.shape, *x.stride()) if dim % 2 else (*x.shape[::-1], *x.stride()[::-1])
    out = torch.empty_like(x)
    _online[(rows,)](x, out, cols, sm, sn, BLOCK=64)
    return out
