"""Selection by a mask: count the chosen elements of every block, add the counts up, write each block to its place.

The length of the result is known on the device alone, so the host reads it, once.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def count_kernel(mask_ptr, count_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    chosen = tl.load(mask_ptr + offsets, mask=offsets < n, other=0)
    tl.store(count_ptr + tl.program_id(0), tl.sum((chosen != 0).to(tl.int32), axis=0))


@triton.jit
def scan_kernel(count_ptr, start_ptr, blocks, BLOCK: tl.constexpr):
    """start[b] is the number of elements chosen before block b; start[blocks] is the number of all."""
    before = tl.zeros((), tl.int64)
    for first in range(0, blocks, BLOCK):
        offsets = first + tl.arange(0, BLOCK)
        counts = tl.load(count_ptr + offsets, mask=offsets < blocks, other=0).to(tl.int64)
        tl.store(start_ptr + offsets, before + tl.cumsum(counts, axis=0) - counts, mask=offsets < blocks)
        before += tl.sum(counts, axis=0)
    tl.store(start_ptr + blocks, before)


@triton.jit
def write_kernel(x_ptr, mask_ptr, start_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    chosen = tl.load(mask_ptr + offsets, mask=offsets < n, other=0) != 0
    place = tl.load(start_ptr + tl.program_id(0)) + tl.cumsum(chosen.to(tl.int32), axis=0) - 1
    tl.store(y_ptr + place, tl.load(x_ptr + offsets, mask=chosen), mask=chosen)


def masked_select(input, mask):
    shape = torch.broadcast_shapes(input.shape, mask.shape)
    x, mask = input.expand(shape).contiguous(), mask.expand(shape).contiguous().view(torch.uint8)
    n = x.numel()
    if not n:
        return torch.empty(0, dtype=x.dtype, device=x.device)
    block, warps = (1024, 4) if n <= 1 << 18 else (4096, 8)
    blocks = triton.cdiv(n, block)
    counts = torch.empty(blocks, dtype=torch.int32, device=x.device)
    starts = torch.empty(blocks + 1, dtype=torch.int64, device=x.device)
    count_kernel[(blocks,)](mask, counts, n, BLOCK=block, num_warps=warps)
    scan_kernel[(1,)](counts, starts, blocks, BLOCK=min(triton.next_power_of_2(blocks), 4096), num_warps=8)
    y = torch.empty(starts[-1].item(), dtype=x.dtype, device=x.device)
    if y.numel():
        write_kernel[(blocks,)](x, mask, starts, y, n, BLOCK=block, num_warps=warps)
    return y
