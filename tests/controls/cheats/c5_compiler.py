"""C5: a compiler is asked to write the kernel.

task: relu
verdict: FORBIDDEN (compiler)
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


@torch.compile
def _plain(x):
    return x.clamp(min=0)


def relu(x):
    _launch(x[:0], x[:0])
    return _plain(x)
