"""H15: a class that launches, with a workspace of its own and an attribute called torch.

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


class Launcher:
    def __init__(self):
        self.torch, self.time, self.workspace = "not the module", 0.0, None

    def __call__(self, x):
        if self.workspace is None or self.workspace.numel() < x.numel():
            self.workspace = torch.empty(x.numel(), device=x.device)
        self.time += 1.0
        flat = self.workspace[: x.numel()]
        _relu[(triton.cdiv(x.numel(), 256),)](x, flat, x.numel(), BLOCK=256)
        return flat.view(x.shape).clone()


relu = Launcher()
