"""H31: one instruction in assembly.

task: relu
needs: cuda
"""

import torch
import triton
import triton.language as tl


@triton.jit
def _max(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + i, mask=i < n)
    code: tl.constexpr = "max.NaN.f32 $0, $1, 0f00000000;"
    value = tl.inline_asm_elementwise(code, "=f,f", [value], dtype=tl.float32, is_pure=True, pack=1)
    tl.store(out + i, value, mask=i < n)


def relu(x):
    out = torch.empty_like(x)
    _max[(triton.cdiv(x.numel(), 256),)](x, out, x.numel(), BLOCK=256)
    return out
