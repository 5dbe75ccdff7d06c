"""H14: imports that may fail, in try.

task: relu
"""

import torch
import triton
import triton.language as tl


@triton.jit
def _relu(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + i, mask=i < n)
    tl.store(out + i, tl.where(value < 0, 0.0, value), mask=i < n)


try:
    from triton.language.extra.cuda import no_such_thing
except (ImportError, AttributeError):
    no_such_thing = None

try:
    import no_such_module
except ImportError:
    no_such_module = None


def relu(x):
    out = torch.empty_like(x)
    _relu[(triton.cdiv(x.numel(), 256),)](x, out, x.numel(), BLOCK=256)
    return out
