"""Negative log-likelihood: of every entry only the log-probability of its class is read.

The log-probabilities are (N, C, S), in any layout; entries are the N * S targets. Losses and weights are added up per
program, and a second launch adds the programs up, always in the same order.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def entry_at(
    x_ptr, target_ptr, weight_ptr, entry, entries, S, stride_n, stride_c, stride_s, ignore_index, WEIGHT: tl.constexpr
):
    """Losses and weights of entries; 0 for those ignored, or outside."""
    target = tl.load(target_ptr + entry, mask=entry < entries, other=0)
    counted = (entry < entries) & (target != ignore_index)
    offsets = (entry // S).to(tl.int64) * stride_n + target * stride_c + (entry % S).to(tl.int64) * stride_s
    chosen = tl.load(x_ptr + offsets, mask=counted, other=0.0).to(tl.float32)
    weight = counted.to(tl.float32)
    if WEIGHT:
        weight = tl.load(weight_ptr + target, mask=counted, other=0.0).to(tl.float32)
    return -weight * chosen, weight


@triton.jit
def losses_kernel(
    x_ptr, target_ptr, weight_ptr, y_ptr, entries, S, stride_n, stride_c, stride_s, ignore_index,
    WEIGHT: tl.constexpr, INDEX: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    entry = tl.program_id(0).to(INDEX) * BLOCK + tl.arange(0, BLOCK)
    loss, _ = entry_at(
        x_ptr, target_ptr, weight_ptr, entry, entries, S, stride_n, stride_c, stride_s, ignore_index, WEIGHT
    )
    tl.store(y_ptr + entry, loss.to(y_ptr.dtype.element_ty), mask=entry < entries)


@triton.jit
def partial_kernel(
    x_ptr, target_ptr, weight_ptr, partial_ptr, entries, S, stride_n, stride_c, stride_s, ignore_index,
    WEIGHT: tl.constexpr, INDEX: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Sums over the blocks p, p + programs, p + 2 programs ..."""
    losses = tl.zeros((BLOCK,), tl.float32)
    weights = tl.zeros((BLOCK,), tl.float32)
    step = tl.num_programs(0).to(INDEX) * BLOCK
    for start in range(tl.program_id(0).to(INDEX) * BLOCK, entries, step):
        entry = start + tl.arange(0, BLOCK)
        loss, weight = entry_at(
            x_ptr, target_ptr, weight_ptr, entry, entries, S, stride_n, stride_c, stride_s, ignore_index, WEIGHT
        )
        losses += loss
        weights += weight
    tl.store(partial_ptr + tl.program_id(0), tl.sum(losses, axis=0))
    tl.store(partial_ptr + tl.num_programs(0) + tl.program_id(0), tl.sum(weights, axis=0))


@triton.jit
def total_kernel(partial_ptr, y_ptr, programs, MEAN: tl.constexpr, BLOCK: tl.constexpr):
    p = tl.arange(0, BLOCK)
    y = tl.sum(tl.load(partial_ptr + p, mask=p < programs, other=0.0), axis=0)
    if MEAN:
        y = y / tl.sum(tl.load(partial_ptr + programs + p, mask=p < programs, other=0.0), axis=0)
    tl.store(y_ptr, y.to(y_ptr.dtype.element_ty))


def nll_loss(input, target, weight=None, ignore_index=-100, reduction="mean"):
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    entries, S = target.numel(), target.shape[1:].numel()
    x = input.reshape(*input.shape[:2], S)
    y = torch.empty(target.shape if reduction == "none" else (), dtype=x.dtype, device=x.device)
    arguments = x, target.contiguous(), x if weight is None else weight.contiguous()
    numbers = entries, S, *x.stride(), ignore_index, weight is not None, tl.int32 if entries < 2**30 else tl.int64
    block, warps = (1024, 4) if entries <= 1 << 18 else (2048, 8)
    blocks = triton.cdiv(entries, block)
    if reduction == "none":
        if entries:
            losses_kernel[(blocks,)](*arguments, y, *numbers, BLOCK=block, num_warps=warps)
        return y
    programs = max(1, min(blocks, 2048))
    partial = torch.empty((2, programs), dtype=torch.float32, device=x.device)
    partial_kernel[(programs,)](*arguments, partial, *numbers, BLOCK=block, num_warps=warps)
    total_kernel[(1,)](partial, y, programs, reduction == "mean", BLOCK=triton.next_power_of_2(programs), num_warps=8)
    return y
