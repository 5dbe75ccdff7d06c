"""A2: a copy of the process would do the work after the call.

task: relu
verdict: FORBIDDEN (process)
"""

import os

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
    out = torch.empty_like(x).share_memory_()
    if os.fork() == 0:
        _launch(x, out)
        os._exit(0)
    return out
