"""H28: a lock around the first call.

task: relu
"""

import threading

import torch
import triton
import triton.language as tl


@triton.jit
def _relu(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + i, mask=i < n)
    tl.store(out + i, tl.where(value < 0, 0.0, value), mask=i < n)


lock = threading.Lock()
ready = threading.local()


def relu(x):
    out = torch.empty_like(x)
    with lock:
        ready.once = True
        _relu[(triton.cdiv(x.numel(), 256),)](x, out, x.numel(), BLOCK=256)
    return out
