"""H22: a dataclass for the choices, by element type.

task: relu
"""

import dataclasses

import torch
import triton
import triton.language as tl


@triton.jit
def _relu(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + i, mask=i < n)
    tl.store(out + i, tl.where(value < 0, 0.0, value), mask=i < n)


@dataclasses.dataclass(frozen=True)
class Choice:
    block: int
    warps: int

    def __post_init__(self):
        object.__setattr__(self, "block", triton.next_power_of_2(self.block))


CHOICES = {getattr(torch, f"float{bits}"): Choice(2000 // bits, 4) for bits in (16, 32, 64)}


def relu(x):
    out, choice = torch.empty_like(x), CHOICES[x.dtype]
    grid = (triton.cdiv(x.numel(), choice.block),)
    _relu[grid](x, out, x.numel(), BLOCK=choice.block, num_warps=choice.warps)
    return out
