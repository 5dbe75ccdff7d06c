"""H19: a module of torch.nn that holds the launch.

task: scaled
"""

import torch
import triton
import triton.language as tl


class Scale(torch.nn.Module):
    def forward(self, x, alpha=2.0, bias=None):
        out, n = torch.empty_like(x), x.numel()
        grid = (triton.cdiv(n, 256),)
        _scale[grid](x, bias, out, alpha, x.shape[-1], n, HAS=bias is not None, BLOCK=256)
        return out


@triton.jit
def _scale(x, bias, out, alpha, N, n, HAS: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + i, mask=i < n) * alpha
    if HAS:
        value += tl.load(bias + i % N, mask=i < n)
    tl.store(out + i, value, mask=i < n)


scaled = Scale()
