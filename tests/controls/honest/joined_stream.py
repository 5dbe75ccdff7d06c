"""H30: work on a stream of its own that the caller's stream waits for.

task: relu
needs: cuda
"""

import torch
import triton
import triton.language as tl


@triton.jit
def _relu(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + i, mask=i < n)
    tl.store(out + i, tl.where(value < 0, 0.0, value), mask=i < n)


def relu(x):
    out, side = torch.empty_like(x), torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        _relu[(triton.cdiv(x.numel(), 256),)](x, out, x.numel(), BLOCK=256)
    torch.cuda.current_stream().wait_stream(side)
    return out
