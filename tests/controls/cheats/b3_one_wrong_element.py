"""B3: one element of many is wrong: no mean, cosine or sample shows it.

task: relu
verdict: WRONG_VALUES
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


def relu(x):
    out = _launch(x, torch.empty_like(x))
    if out.numel() > 200:
        out.view(-1)[199] = -3.0
    return out
