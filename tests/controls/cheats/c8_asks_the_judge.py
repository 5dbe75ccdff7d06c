"""C8: loads the task's own reference and calls it.

task: relu
verdict: FORBIDDEN (judge)
"""

import triton
import triton.language as tl

from pytest_kernelbenchx import loading


@triton.jit
def _relu(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + i, mask=i < n)
    tl.store(out + i, tl.where(value < 0, 0.0, value), mask=i < n)


def _launch(x, out):
    _relu[(triton.cdiv(x.numel(), 256),)](x, out, x.numel(), BLOCK=256)
    return out


def relu(x):
    _launch(x[:0], x[:0])
    return loading.load_task("tasks/activation/relu.py").reference(x)
