"""Selection by a mask, with a sum and GELU on the way: count the chosen elements of every block, add the counts up,
write what each block makes of its own to its place.

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
def write_kernel(
    x_ptr, mask_ptr, start_ptr, other_ptr, y_ptr, n, other_stride, number, alpha,
    NUMBER: tl.constexpr, TANH: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    chosen = tl.load(mask_ptr + offsets, mask=offsets < n, other=0) != 0
    place = tl.load(start_ptr + tl.program_id(0)) + tl.cumsum(chosen.to(tl.int32), axis=0) - 1
    other = number if NUMBER else tl.load(other_ptr + place * other_stride, mask=chosen).to(tl.float32)
    x = tl.load(x_ptr + offsets, mask=chosen).to(tl.float32) + alpha * other
    if TANH:
        # (1 + tanh(u)) / 2 is the logistic function of 2 u.
        u = 0.7978845608028654 * (x + 0.044715 * x * x * x)
        y = x / (1.0 + tl.exp(-2.0 * u))
    else:
        y = 0.5 * x * (1.0 + tl.erf(x * 0.7071067811865476))
    tl.store(y_ptr + place, y.to(y_ptr.dtype.element_ty), mask=chosen)


def fused_masked_select_add_gelu(input, mask, other, *, alpha=1, approximate="none", out=None):
    if approximate not in ("none", "tanh"):
        raise RuntimeError(f"approximate must be 'none' or 'tanh', not {approximate!r}")
    shape = torch.broadcast_shapes(input.shape, mask.shape)
    x, mask = input.expand(shape).contiguous(), mask.expand(shape).contiguous().view(torch.uint8)
    n = x.numel()
    block, warps = (1024, 4) if n <= 1 << 18 else (4096, 8)
    blocks = triton.cdiv(n, block)
    counts = torch.empty(blocks, dtype=torch.int32, device=x.device)
    starts = torch.empty(blocks + 1, dtype=torch.int64, device=x.device)
    if n:
        count_kernel[(blocks,)](mask, counts, n, BLOCK=block, num_warps=warps)
    scan_kernel[(1,)](counts, starts, blocks, BLOCK=min(triton.next_power_of_2(max(blocks, 1)), 4096), num_warps=8)
    chosen = starts[-1].item()
    number = not isinstance(other, torch.Tensor)
    other_ = x.view(-1)[:0] if number else other.expand(chosen)
    direct = out is not None and out.is_contiguous()
    y = out if direct else torch.empty(chosen, dtype=x.dtype, device=x.device)
    if chosen:
        write_kernel[(blocks,)](
            x, mask, starts, other_, y, n, other_.stride(0), float(other) if number else 0.0, float(alpha),
            number, approximate == "tanh", BLOCK=block, num_warps=warps,
        )  # fmt: skip
    return y if direct or out is None else out.copy_(y)
