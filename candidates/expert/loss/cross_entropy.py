"""Cross-entropy in one pass over the logits: maximum and sum of exponentials together, rescaled when the maximum grows.

The logits are (N, C, S); a tile takes entries that are neighbours in memory by classes. Losses and weights are added up
per program, and a second launch adds the programs up, always in the same order.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def loss_kernel(
    x_ptr, target_ptr, weight_ptr, loss_ptr, partial_ptr, entries, C, S, ignore_index,
    WEIGHT: tl.constexpr, REDUCE: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    entry = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    base = entry // S * C * S + entry % S
    top = tl.full((ROWS,), -float("inf"), tl.float32)
    total = tl.zeros((ROWS,), tl.float32)
    for start in range(0, C, COLUMNS):
        column = start + tl.arange(0, COLUMNS)
        inside = (entry < entries)[:, None] & (column < C)[None, :]
        x_ptrs = x_ptr + base[:, None] + column[None, :].to(tl.int64) * S
        x = tl.load(x_ptrs, mask=inside, other=-float("inf")).to(tl.float32)
        higher = tl.maximum(top, tl.max(x, axis=1))
        shift = tl.where(higher == -float("inf"), 0.0, higher)  # -inf - -inf would be NaN
        total = total * tl.exp(top - shift) + tl.sum(tl.exp(x - shift[:, None]), axis=1)
        top = higher
    target = tl.load(target_ptr + entry, mask=entry < entries, other=0)
    counted = (entry < entries) & (target != ignore_index)
    chosen = tl.load(x_ptr + base + target * S, mask=counted, other=0.0).to(tl.float32)
    weight = counted.to(tl.float32)
    if WEIGHT:
        weight = tl.load(weight_ptr + target, mask=counted, other=0.0).to(tl.float32)
    loss = tl.where(counted, weight * (tl.log(total) + (top - chosen)), 0.0)
    if REDUCE:
        tl.store(partial_ptr + tl.program_id(0), tl.sum(loss, axis=0))
        tl.store(partial_ptr + tl.num_programs(0) + tl.program_id(0), tl.sum(weight, axis=0))
    else:
        tl.store(loss_ptr + entry, loss.to(loss_ptr.dtype.element_ty), mask=entry < entries)


@triton.jit
def total_kernel(partial_ptr, y_ptr, programs, MEAN: tl.constexpr, BLOCK: tl.constexpr):
    losses = tl.zeros((BLOCK,), tl.float32)
    weights = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, programs, BLOCK):
        i = start + tl.arange(0, BLOCK)
        losses += tl.load(partial_ptr + i, mask=i < programs, other=0.0)
        weights += tl.load(partial_ptr + programs + i, mask=i < programs, other=0.0)
    y = tl.sum(losses, axis=0)
    if MEAN:
        y = y / tl.sum(weights, axis=0)
    tl.store(y_ptr, y.to(y_ptr.dtype.element_ty))


def cross_entropy(input, target, weight=None, ignore_index=-100, reduction="mean"):
    x, target = input.contiguous(), target.contiguous()
    reduce = reduction != "none"
    C, S = x.shape[1], x.shape[2:].numel()
    entries = target.numel()
    columns = min(triton.next_power_of_2(C), 4096 if S == 1 else 64)
    rows = min(triton.next_power_of_2(max(entries, 1)), 4096 // columns)
    programs = triton.cdiv(entries, rows)
    y = torch.empty(() if reduce else target.shape, dtype=x.dtype, device=x.device)
    partial = torch.empty((2, programs), dtype=torch.float32, device=x.device)
    if entries:
        loss_kernel[(programs,)](
            x, target, x if weight is None else weight.contiguous(), y, partial, entries, C, S, ignore_index,
            weight is not None, reduce, rows, columns, num_warps=8,
        )  # fmt: skip
    if reduce:
        block = min(triton.next_power_of_2(max(programs, 1)), 2048)
        total_kernel[(1,)](partial, y, programs, reduction == "mean", block, num_warps=8)
    return y
