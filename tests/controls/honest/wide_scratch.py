"""H10: loads all of a scratch of which it has written a part, and uses no more than that.

task: row_mean
"""

import torch
import triton
import triton.language as tl


@triton.jit
def _parts(x, scratch, N, BLOCK: tl.constexpr, WIDE: tl.constexpr):
    row, part = tl.program_id(0), tl.program_id(1)
    i = part * BLOCK + tl.arange(0, BLOCK)
    tl.store(scratch + row * WIDE + part, tl.sum(tl.load(x + row * N + i, mask=i < N, other=0.0), 0))


@triton.jit
def _mean(scratch, out, count, N, WIDE: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, WIDE)
    parts = tl.load(scratch + row * WIDE + i)
    tl.store(out + row, tl.sum(tl.where(i < count, parts, 0.0), 0) / N)


def row_mean(x):
    rows, width = x.shape
    parts = triton.cdiv(width, 32)
    wide = triton.next_power_of_2(parts)
    scratch = torch.empty(rows, wide, device=x.device, dtype=torch.float32)
    out = torch.empty(rows, device=x.device, dtype=x.dtype)
    _parts[(rows, parts)](x, scratch, width, BLOCK=32, WIDE=wide)
    _mean[(rows,)](scratch, out, parts, width, WIDE=wide)
    return out
