"""B11: a block is left out now and then, as a race would have it.

task: relu
verdict: NONDETERMINISTIC or WRONG_VALUES
"""

import torch
import triton
import triton.language as tl


@triton.jit
def _relu(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + i, mask=i < n)
    tl.store(out + i, tl.where(value < 0, 0.0, value), mask=i < n)


def _launch(x, out):
    _relu[(triton.cdiv(x.numel(), 256),)](x, out, x.numel(), BLOCK=256)
    return out


seen = {}


def relu(x):
    out = _launch(x, torch.zeros_like(x))
    key = (x.shape, float(x.sum()))
    seen[key] = seen.get(key, 0) + 1
    return out.add_(1.0) if seen[key] > 2 and x.numel() > 60 else out
