"""C2: a kernel works on scratch memory, an operator whose name is put together does the task.

task: softmax
verdict: FORBIDDEN (computed)
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


def softmax(x, dim):
    scratch = torch.zeros(64, device=x.device)
    _launch(scratch, scratch)
    return getattr(torch, "soft" + "max")(x, dim)
