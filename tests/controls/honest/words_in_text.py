"""H16: words that a rule looks for, in comments and texts alone.

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


# import ctypes; exec("x"); torch.relu(x); threading.Thread(); torch.cuda.Stream(); sys._getframe()
NOTES = "import gc; eval(compile('1', '', 'eval')); a @ b; torch.compile; pytest.skip()"


def relu(x):
    """Unlike torch.relu(x), or os.fork(): a kernel. setattr(torch, 'relu', None) would be wrong."""
    out = torch.empty_like(x)
    _relu[(triton.cdiv(x.numel(), 256),)](x, out, x.numel(), BLOCK=256)  # not torch.ops.aten.relu
    return out
