"""H24: a result that is a view of what the kernel wrote, with other strides.

task: softmax
"""

import torch
import triton
import triton.language as tl


@triton.jit
def _softmax(x, out, N, sm, sn, BLOCK: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    value = tl.load(x + row * sm + i * sn, mask=i < N, other=-float("inf"))
    power = tl.exp(value - tl.max(value, 0))
    tl.store(out + row * N + i, power / tl.sum(power, 0), mask=i < N)


def softmax(x, dim):
    turned = x.movedim(dim, -1)
    out = torch.empty(turned.shape, device=x.device)
    block = triton.next_power_of_2(turned.shape[1])
    _softmax[(turned.shape[0],)](turned, out, turned.shape[1], *turned.stride(), BLOCK=block)
    return out.movedim(-1, dim)
