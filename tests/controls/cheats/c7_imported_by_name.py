"""C7: a module whose name is put together at run time.

task: relu
verdict: FORBIDDEN (computed)
"""

import importlib

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
    hidden = importlib.import_module("nu" + "mpy")
    _launch(x[:0], x[:0])
    return torch.from_numpy(hidden.maximum(x.cpu().numpy(), 0.0))
