"""Cross-entropy of a log-softmax, in one pass over the logits where both run along the classes: the inner one is then
without effect. Otherwise a launch before takes the logarithms of the sums of exponentials along `dim`, and the logits
are read less these.

Maximum and sum of exponentials are taken together, the sum rescaled when the maximum grows. The logits are (N, C, S); a
tile takes entries that are neighbours in memory by classes. Losses and weights are added up per program, and a last
launch adds the programs up, always in the same order.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def grow(top, total, x):
    """The maximum and the sum of exponentials less it, of what has been seen and a tile more."""
    higher = tl.maximum(top, tl.max(x, axis=1))
    shift = tl.where(higher == -float("inf"), 0.0, higher)  # -inf - -inf would be NaN
    return higher, total * tl.exp(top - shift) + tl.sum(tl.exp(x - shift[:, None]), axis=1)


@triton.jit
def logsumexp_kernel(x_ptr, y_ptr, slices, N, inner, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    base = row // inner * N * inner + row % inner
    top = tl.full((ROWS,), -float("inf"), tl.float32)
    total = tl.zeros((ROWS,), tl.float32)
    for start in range(0, N, COLUMNS):
        column = start + tl.arange(0, COLUMNS)
        inside = (row < slices)[:, None] & (column < N)[None, :]
        x_ptrs = x_ptr + base[:, None] + column[None, :].to(tl.int64) * inner
        top, total = grow(top, total, tl.load(x_ptrs, mask=inside, other=-float("inf")).to(tl.float32))
    tl.store(y_ptr + row, top + tl.log(total), mask=row < slices)


@triton.jit
def loss_kernel(
    x_ptr, less_ptr, target_ptr, weight_ptr, loss_ptr, partial_ptr, entries, C, S, less_n, less_c, span, inner,
    ignore_index, smoothing,
    LESS: tl.constexpr, WEIGHT: tl.constexpr, SMOOTH: tl.constexpr, REDUCE: tl.constexpr,
    ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    entry = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    n, s = entry // S, entry % S
    base = n * C * S + s
    less_base = n * less_n + s // span * inner + s % inner
    top = tl.full((ROWS,), -float("inf"), tl.float32)
    total = tl.zeros((ROWS,), tl.float32)
    weights = tl.zeros((ROWS, COLUMNS), tl.float32)
    weighted = tl.zeros((ROWS, COLUMNS), tl.float32)
    for start in range(0, C, COLUMNS):
        column = start + tl.arange(0, COLUMNS).to(tl.int64)
        inside = (entry < entries)[:, None] & (column < C)[None, :]
        x = tl.load(x_ptr + base[:, None] + column[None, :] * S, mask=inside, other=-float("inf")).to(tl.float32)
        if LESS:
            x -= tl.load(less_ptr + less_base[:, None] + column[None, :] * less_c, mask=inside, other=0.0)
        top, total = grow(top, total, x)
        if SMOOTH:
            w = inside.to(tl.float32)
            if WEIGHT:
                w *= tl.load(weight_ptr + column, mask=column < C, other=0.0).to(tl.float32)[None, :]
            weights += w
            weighted += tl.where(inside, w * x, 0.0)
    target = tl.load(target_ptr + entry, mask=entry < entries, other=0)
    counted = (entry < entries) & (target != ignore_index)
    chosen = tl.load(x_ptr + base + target * S, mask=counted, other=0.0).to(tl.float32)
    if LESS:
        chosen -= tl.load(less_ptr + less_base + target * less_c, mask=counted, other=0.0)
    weight = counted.to(tl.float32)
    if WEIGHT:
        weight = tl.load(weight_ptr + target, mask=counted, other=0.0).to(tl.float32)
    loss = weight * (tl.log(total) + (top - chosen))
    if SMOOTH:
        even = (top + tl.log(total)) * tl.sum(weights, axis=1) - tl.sum(weighted, axis=1)
        loss = (1.0 - smoothing) * loss + smoothing / C * even
    loss = tl.where(counted, loss, 0.0)
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


def tile(slices, length, inner):
    """Rows and columns: long where slices are contiguous, wide where neighbouring slices are."""
    columns = min(triton.next_power_of_2(length), 4096 if inner == 1 else 64)
    return min(triton.next_power_of_2(slices), 4096 // columns), columns


def logsumexp(x, dim):
    """Along `dim`, as a contiguous float32 tensor without it."""
    inner = x.shape[dim + 1 :].numel()
    y = torch.empty(x.shape[:dim] + x.shape[dim + 1 :], dtype=torch.float32, device=x.device)
    rows, columns = tile(y.numel(), x.shape[dim], inner)
    grid = (triton.cdiv(y.numel(), rows),)
    logsumexp_kernel[grid](x, y, y.numel(), x.shape[dim], inner, rows, columns, num_warps=8)
    return y


def fused_cross_entropy_log_softmax(
    input, target, dim=1, weight=None, ignore_index=-100, reduction="mean", label_smoothing=0.0
):
    x, target = input.contiguous(), target.contiguous()
    dim %= x.dim()
    reduce = reduction != "none"
    C, S = x.shape[1], x.shape[2:].numel()
    entries = target.numel()
    y = torch.empty(() if reduce else target.shape, dtype=x.dtype, device=x.device)
    rows, columns = tile(max(entries, 1), C, S)
    programs = triton.cdiv(entries, rows)
    partial = torch.empty((2, programs), dtype=torch.float32, device=x.device)
    if entries:
        less = x if dim == 1 else logsumexp(x, dim)
        inner, span = (S, S) if dim < 2 else (x.shape[dim + 1 :].numel(), x.shape[dim:].numel())
        less_n, less_c = (0, S) if dim < 2 else (less[0].numel(), less[0, 0].numel())
        loss_kernel[(programs,)](
            x, less, target, x if weight is None else weight.contiguous(), y, partial, entries, C, S,
            less_n, less_c, span, inner, ignore_index, float(label_smoothing),
            dim != 1, weight is not None, label_smoothing > 0, reduce, rows, columns, num_warps=8,
        )  # fmt: skip
    if reduce:
        block = min(triton.next_power_of_2(max(programs, 1)), 2048)
        total_kernel[(1,)](partial, y, programs, reduction == "mean", block, num_warps=8)
    return y
