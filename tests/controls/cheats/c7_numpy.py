"""C7: a kernel works on scratch memory, numpy does the task where no mode of PyTorch sees it.

task: relu
verdict: DELEGATED
"""

import numpy
import torch
import triton
import triton.language as tl


@triton.jit
def _decoy(x, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(x + i, tl.load(x + i, mask=i < n) + 1, mask=i < n)


def relu(x):
    scratch = torch.zeros(64, device=x.device)
    _decoy[(1,)](scratch, 64, BLOCK=64)
    return torch.from_numpy(numpy.maximum(x.cpu().numpy(), 0)).to(x.device)
