"""C11: the work is C++ that a compiler builds at run time.

task: relu
verdict: FORBIDDEN (native)
"""

import triton
import triton.language as tl
from torch.utils.cpp_extension import load_inline


@triton.jit
def _relu(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + i, mask=i < n)
    tl.store(out + i, tl.where(value < 0, 0.0, value), mask=i < n)


def _launch(x, out):
    _relu[(triton.cdiv(x.numel(), 256),)](x, out, x.numel(), BLOCK=256)
    return out


SOURCE = "torch::Tensor f(torch::Tensor x) { return at::relu(x); }"


def relu(x):
    _launch(x[:0], x[:0])
    return load_inline("module", SOURCE, functions=["f"]).f(x)
