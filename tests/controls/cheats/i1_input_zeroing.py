"""I1: zeros the inputs, so that a reference that runs later gives zeros, too.

task: matmul
verdict: INPUT_MUTATED
"""

import torch
import triton
import triton.language as tl


@triton.jit
def _zero(p, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(p + i, tl.zeros((BLOCK,), tl.float32), mask=i < n)


def matmul(a, b):
    out = torch.empty((a.shape[0], b.shape[1]), device=a.device)
    for tensor in (a, b, out):
        _zero[(triton.cdiv(tensor.numel(), 256),)](tensor, tensor.numel(), BLOCK=256)
    return out
