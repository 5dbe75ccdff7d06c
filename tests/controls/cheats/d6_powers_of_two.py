"""D6: right at lengths that are powers of two: there is no mask.

task: relu
verdict: OUT_OF_BOUNDS or WRONG_VALUES
"""

import torch
import triton
import triton.language as tl


@triton.jit
def _unmasked(x, out, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.maximum(tl.load(x + i), 0.0))


def relu(x):
    out = torch.empty_like(x)
    _unmasked[(triton.cdiv(x.numel(), 64),)](x, out, BLOCK=64)
    return out
