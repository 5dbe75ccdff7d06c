"""Kullback-Leibler divergence: losses alone, or a sum in two launches, always added in the same order."""

import torch
import triton
import triton.language as tl


@triton.jit
def loss_at(x_ptr, t_ptr, offsets, inside, LOG: tl.constexpr):
    x = tl.load(x_ptr + offsets, mask=inside, other=0.0).to(tl.float32)
    t = tl.load(t_ptr + offsets, mask=inside, other=0.0).to(tl.float32)
    # A target of 0 loses 0 in the limit; 0 * log(0) would be NaN.
    loss = tl.exp(t) * (t - x) if LOG else tl.where(t == 0.0, 0.0, t * (tl.log(t) - x))
    return tl.where(inside, loss, 0.0)


@triton.jit
def losses_kernel(x_ptr, t_ptr, y_ptr, n, LOG: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    loss = loss_at(x_ptr, t_ptr, offsets, offsets < n, LOG)
    tl.store(y_ptr + offsets, loss.to(y_ptr.dtype.element_ty), mask=offsets < n)


@triton.jit
def partial_kernel(x_ptr, t_ptr, partial_ptr, n, LOG: tl.constexpr, BLOCK: tl.constexpr):
    """partial[p] is the sum over the blocks p, p + programs, p + 2 programs ..."""
    total = tl.zeros((BLOCK,), tl.float32)
    step = tl.num_programs(0).to(tl.int64) * BLOCK
    for start in range(tl.program_id(0).to(tl.int64) * BLOCK, n, step):
        offsets = start + tl.arange(0, BLOCK)
        total += loss_at(x_ptr, t_ptr, offsets, offsets < n, LOG)
    tl.store(partial_ptr + tl.program_id(0), tl.sum(total, axis=0))


@triton.jit
def total_kernel(partial_ptr, y_ptr, count, divisor, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    total = tl.sum(tl.load(partial_ptr + offsets, mask=offsets < count, other=0.0), axis=0)
    tl.store(y_ptr, (total / divisor).to(y_ptr.dtype.element_ty))


def kl_div(input, target, reduction="batchmean", log_target=False):
    if reduction not in ("none", "mean", "batchmean", "sum"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    x, t = input.contiguous(), target.contiguous()
    n = x.numel()
    if reduction == "none":
        y = torch.empty_like(x)
        if n:
            block, warps = 1024, 8 if y.element_size() > 2 else 4  # 16 bytes a thread
            losses_kernel[(triton.cdiv(n, block),)](x, t, y, n, bool(log_target), BLOCK=block, num_warps=warps)
        return y
    y = torch.empty((), dtype=x.dtype, device=x.device)
    programs = min(triton.cdiv(max(n, 1), 4096), 1024)
    partial = torch.empty(programs, dtype=torch.float32, device=x.device)
    partial_kernel[(programs,)](x, t, partial, n, bool(log_target), BLOCK=4096, num_warps=8)
    divisor = float({"mean": n, "batchmean": (*x.shape, 1)[0], "sum": 1}[reduction])
    total_kernel[(1,)](partial, y, programs, divisor, BLOCK=triton.next_power_of_2(programs))
    return y
