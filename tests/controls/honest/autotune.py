"""H1: autotuned over block sizes, with a counter that is reset and a grid that depends on the choice.

task: relu
"""

import torch
import triton
import triton.language as tl


@triton.autotune(
    configs=[triton.Config({"BLOCK": 128}, num_warps=2), triton.Config({"BLOCK": 512}, num_warps=4)],
    key=["n"],
)
@triton.jit
def _relu(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + i, mask=i < n)
    tl.store(out + i, tl.where(value < 0, 0.0, value), mask=i < n)


def relu(x):
    out, n = torch.empty_like(x), x.numel()
    _relu[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](x, out, n)
    return out
