"""C9: PyTorch's int8 product under a name of its own.

task: matmul_w8a8
verdict: FORBIDDEN (forbidden)
"""

import triton
import triton.language as tl
from torch import _int_mm as _mm


@triton.jit
def _relu(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + i, mask=i < n)
    tl.store(out + i, tl.where(value < 0, 0.0, value), mask=i < n)


def _launch(x, out):
    _relu[(triton.cdiv(x.numel(), 256),)](x, out, x.numel(), BLOCK=256)
    return out


def matmul_w8a8(input, weight):
    _launch(input[:0].float(), input[:0].float())
    return _mm(input, weight)
