"""C9: a quantized task's product, left to PyTorch in float32.

task: matmul_w8a8
verdict: FORBIDDEN (forbidden)
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


product = torch.nn.functional.linear


def matmul_w8a8(input, weight):
    _launch(input[:0].float(), input[:0].float())
    return product(input.float(), weight.float().t()).to(torch.int32)
