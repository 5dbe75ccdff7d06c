"""Binary cross-entropy: losses alone, or a sum in two launches, always added in the same order.

log(1 - x) is libdevice's log1p(-x), since 1 - x rounds a small x away.
"""

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def loss_at(x_ptr, t_ptr, weight_ptr, offsets, inside, WEIGHT: tl.constexpr):
    x = tl.load(x_ptr + offsets, mask=inside, other=0.5).to(tl.float32)
    t = tl.load(t_ptr + offsets, mask=inside, other=0.0).to(tl.float32)
    loss = (t - 1.0) * tl.maximum(libdevice.log1p(-x), -100.0) - t * tl.maximum(tl.log(x), -100.0)
    if WEIGHT:
        loss *= tl.load(weight_ptr + offsets, mask=inside, other=0.0).to(tl.float32)
    return tl.where(inside, loss, 0.0)


@triton.jit
def losses_kernel(x_ptr, t_ptr, weight_ptr, y_ptr, n, WEIGHT: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    loss = loss_at(x_ptr, t_ptr, weight_ptr, offsets, offsets < n, WEIGHT)
    tl.store(y_ptr + offsets, loss.to(y_ptr.dtype.element_ty), mask=offsets < n)


@triton.jit
def partial_kernel(x_ptr, t_ptr, weight_ptr, partial_ptr, n, WEIGHT: tl.constexpr, BLOCK: tl.constexpr):
    """partial[p] is the sum over the blocks p, p + programs, p + 2 programs ..."""
    total = tl.zeros((BLOCK,), tl.float32)
    step = tl.num_programs(0).to(tl.int64) * BLOCK
    for start in range(tl.program_id(0).to(tl.int64) * BLOCK, n, step):
        offsets = start + tl.arange(0, BLOCK)
        total += loss_at(x_ptr, t_ptr, weight_ptr, offsets, offsets < n, WEIGHT)
    tl.store(partial_ptr + tl.program_id(0), tl.sum(total, axis=0))


@triton.jit
def total_kernel(partial_ptr, y_ptr, count, divisor, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    total = tl.sum(tl.load(partial_ptr + offsets, mask=offsets < count, other=0.0), axis=0)
    tl.store(y_ptr, (total / divisor).to(y_ptr.dtype.element_ty))


def binary_cross_entropy(input, target, weight=None, reduction="mean"):
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    x, t = input.contiguous(), target.contiguous()
    weighted = weight is not None
    w = weight.expand(x.shape).contiguous() if weighted else x
    n = x.numel()
    if reduction == "none":
        y = torch.empty_like(x)
        if n:
            block, warps = 1024, 8 if y.element_size() > 2 else 4  # 16 bytes a thread
            losses_kernel[(triton.cdiv(n, block),)](x, t, w, y, n, weighted, BLOCK=block, num_warps=warps)
        return y
    y = torch.empty((), dtype=x.dtype, device=x.device)
    programs = min(triton.cdiv(max(n, 1), 4096), 1024)
    partial = torch.empty(programs, dtype=torch.float32, device=x.device)
    partial_kernel[(programs,)](x, t, w, partial, n, weighted, BLOCK=4096, num_warps=8)
    divisor = float(n if reduction == "mean" else 1)
    total_kernel[(1,)](partial, y, programs, divisor, BLOCK=triton.next_power_of_2(programs))
    return y
