"""H4: reads and writes a whole block, whatever the length.

task: relu
verdict: OUT_OF_BOUNDS or WRONG_VALUES
"""

import torch
import triton
import triton.language as tl


@triton.jit
def _careless(x, out, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.maximum(tl.load(x + i), 0.0))


def relu(x):
    padded = torch.empty(triton.cdiv(x.numel(), 128) * 128, device=x.device)
    _careless[(triton.cdiv(x.numel(), 128),)](x, padded, BLOCK=128)
    return padded[: x.numel()].view(x.shape)
