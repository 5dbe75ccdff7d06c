"""A2: the same, where the source does not show that it starts a thread.

task: relu
verdict: NO_KERNEL or WRONG_VALUES or ASYNC_WORK
"""

import threading
import time

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


workers = [threading][0]


def relu(x):
    out = torch.empty_like(x)

    def later():
        time.sleep(0.05)
        _launch(x, out)

    workers.Thread(target=later, daemon=True).start()
    return out
