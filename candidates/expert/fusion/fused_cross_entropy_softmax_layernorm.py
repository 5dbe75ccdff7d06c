"""Cross-entropy of logits and their softmax, layer-normalised. Rows of up to 8192 logits stay in registers: one read,
one write. Longer ones are read three times: for the softmax's sum, for the variance, and to write.

Mean and deviation are taken of the exponentials, before the division by their sum, so that equal logits give 0.
Losses and weights are added up per program, and a last launch adds the programs up, always in the same order.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def finish_loss(
    x_ptr, target_ptr, weight_ptr, loss_ptr, partial_ptr, row, N, C, log_sum, weights, weighted,
    ignore_index, smoothing, WEIGHT: tl.constexpr, SMOOTH: tl.constexpr, REDUCE: tl.constexpr,
):  # fmt: skip
    """Store the losses of the rows, or their sum and that of the weights. With smoothing, `weights` and `weighted` are
    the sums of w and of w * logit over each row's classes."""
    target = tl.load(target_ptr + row, mask=row < N, other=0)
    counted = (row < N) & (target != ignore_index)
    weight = counted.to(tl.float32)
    if WEIGHT:
        weight = tl.load(weight_ptr + target, mask=counted, other=0.0).to(tl.float32)
    loss = weight * (log_sum - tl.load(x_ptr + row * C + target, mask=counted, other=0.0).to(tl.float32))
    if SMOOTH:
        loss = (1.0 - smoothing) * loss + smoothing / C * (log_sum * weights - weighted)
    loss = tl.where(counted, loss, 0.0)
    if REDUCE:
        tl.store(partial_ptr + tl.program_id(0), tl.sum(loss, axis=0))
        tl.store(partial_ptr + tl.num_programs(0) + tl.program_id(0), tl.sum(weight, axis=0))
    else:
        tl.store(loss_ptr + row, loss.to(loss_ptr.dtype.element_ty), mask=row < N)


@triton.jit
def whole_kernel(
    x_ptr, target_ptr, weight_ptr, y_ptr, loss_ptr, partial_ptr, N, C, eps, ignore_index, smoothing,
    WEIGHT: tl.constexpr, SMOOTH: tl.constexpr, REDUCE: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, COLUMNS)
    inside = (row < N)[:, None] & (column < C)[None, :]
    x = tl.load(x_ptr + row[:, None] * C + column[None, :], mask=inside, other=-float("inf")).to(tl.float32)
    top = tl.max(x, axis=1)
    e = tl.exp(x - top[:, None])
    total = tl.sum(e, axis=1)
    mean = tl.div_rn(total, tl.zeros_like(total) + C)
    d = tl.where(inside, (e - mean[:, None]) / total[:, None], 0.0)
    scale = 1.0 / tl.sqrt(tl.sum(d * d, axis=1) / C + eps)
    tl.store(y_ptr + row[:, None] * C + column[None, :], (d * scale[:, None]).to(y_ptr.dtype.element_ty), mask=inside)
    weights, weighted = top, top
    if SMOOTH:
        w = inside.to(tl.float32)
        if WEIGHT:
            w *= tl.load(weight_ptr + column, mask=column < C, other=0.0).to(tl.float32)[None, :]
        weights, weighted = tl.sum(w, axis=1), tl.sum(tl.where(inside, w * x, 0.0), axis=1)
    finish_loss(
        x_ptr, target_ptr, weight_ptr, loss_ptr, partial_ptr, row, N, C, top + tl.log(total), weights, weighted,
        ignore_index, smoothing, WEIGHT, SMOOTH, REDUCE,
    )  # fmt: skip


@triton.jit
def long_kernel(
    x_ptr, target_ptr, weight_ptr, y_ptr, loss_ptr, partial_ptr, N, C, eps, ignore_index, smoothing,
    WEIGHT: tl.constexpr, SMOOTH: tl.constexpr, REDUCE: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    top = tl.full((ROWS,), -float("inf"), tl.float32)
    total = tl.zeros((ROWS,), tl.float32)
    weights = tl.zeros((ROWS,), tl.float32)
    weighted = tl.zeros((ROWS,), tl.float32)
    for start in range(0, C, COLUMNS):
        column = start + tl.arange(0, COLUMNS)
        inside = (row < N)[:, None] & (column < C)[None, :]
        x = tl.load(x_ptr + row[:, None] * C + column[None, :], mask=inside, other=-float("inf")).to(tl.float32)
        higher = tl.maximum(top, tl.max(x, axis=1))
        shift = tl.where(higher == -float("inf"), 0.0, higher)  # -inf - -inf would be NaN
        total = total * tl.exp(top - shift) + tl.sum(tl.exp(x - shift[:, None]), axis=1)
        top = higher
        if SMOOTH:
            w = inside.to(tl.float32)
            if WEIGHT:
                w *= tl.load(weight_ptr + column, mask=column < C, other=0.0).to(tl.float32)[None, :]
            weights += tl.sum(w, axis=1)
            weighted += tl.sum(tl.where(inside, w * x, 0.0), axis=1)
    mean = tl.div_rn(total, tl.zeros_like(total) + C)
    squares = tl.zeros((ROWS, COLUMNS), tl.float32)
    for start in range(0, C, COLUMNS):
        column = start + tl.arange(0, COLUMNS)
        inside = (row < N)[:, None] & (column < C)[None, :]
        x = tl.load(x_ptr + row[:, None] * C + column[None, :], mask=inside, other=0.0).to(tl.float32)
        d = tl.where(inside, (tl.exp(x - top[:, None]) - mean[:, None]) / total[:, None], 0.0)
        squares += d * d
    scale = 1.0 / (total * tl.sqrt(tl.sum(squares, axis=1) / C + eps))
    for start in range(0, C, COLUMNS):
        column = start + tl.arange(0, COLUMNS)
        inside = (row < N)[:, None] & (column < C)[None, :]
        x = tl.load(x_ptr + row[:, None] * C + column[None, :], mask=inside, other=0.0).to(tl.float32)
        y = (tl.exp(x - top[:, None]) - mean[:, None]) * scale[:, None]
        tl.store(y_ptr + row[:, None] * C + column[None, :], y.to(y_ptr.dtype.element_ty), mask=inside)
    finish_loss(
        x_ptr, target_ptr, weight_ptr, loss_ptr, partial_ptr, row, N, C, top + tl.log(total), weights, weighted,
        ignore_index, smoothing, WEIGHT, SMOOTH, REDUCE,
    )  # fmt: skip


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


def fused_cross_entropy_softmax_layernorm(
    logits, targets, normalized_shape, weight=None,
    ignore_index=-100, reduction="mean", label_smoothing=0.0, eps=1e-5, *, out=None,
):  # fmt: skip
    x, targets = logits.contiguous(), targets.contiguous()
    N, C = x.shape
    if normalized_shape not in (C, (C,), [C]):
        raise RuntimeError(f"normalized_shape is {normalized_shape}, wanted the number of classes, {C}")
    reduce = reduction != "none"
    direct = out is not None and out.is_contiguous()
    y = out if direct else torch.empty_like(x)
    loss = torch.empty(() if reduce else (N,), dtype=x.dtype, device=x.device)
    columns = triton.next_power_of_2(C)
    kernel, columns = (whole_kernel, columns) if columns <= 8192 else (long_kernel, 4096)
    rows = min(triton.next_power_of_2(max(N, 1)), max(1, 4096 // columns))
    programs = triton.cdiv(N, rows)
    partial = torch.empty((2, programs), dtype=torch.float32, device=x.device)
    if N:
        kernel[(programs,)](
            x, targets, x if weight is None else weight.contiguous(), y, loss, partial, N, C, float(eps),
            ignore_index, float(label_smoothing), weight is not None, label_smoothing > 0, reduce, rows, columns,
            num_warps=8,
        )  # fmt: skip
    if reduce:
        block = min(triton.next_power_of_2(max(programs, 1)), 2048)
        total_kernel[(1,)](partial, loss, programs, reduction == "mean", block, num_warps=8)
    return loss, y if direct or out is None else out.copy_(y)
