"""Cosine embedding loss in one pass over both tensors: the three products of a row are summed together.

The lengths of the rows cancel out of the cosine, so nothing is normalised in fact. Losses are added up per program, and
a second launch adds the programs up, always in the same order.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def loss_kernel(
    u_ptr, v_ptr, target_ptr, y_ptr, N, D, margin, REDUCE: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr
):
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    uu = tl.zeros((ROWS, COLUMNS), tl.float32)
    vv = tl.zeros((ROWS, COLUMNS), tl.float32)
    uv = tl.zeros((ROWS, COLUMNS), tl.float32)
    for start in range(0, D, COLUMNS):
        column = start + tl.arange(0, COLUMNS)
        inside = (row < N)[:, None] & (column < D)[None, :]
        u = tl.load(u_ptr + row[:, None] * D + column[None, :], mask=inside, other=0.0).to(tl.float32)
        v = tl.load(v_ptr + row[:, None] * D + column[None, :], mask=inside, other=0.0).to(tl.float32)
        uu += u * u
        vv += v * v
        uv += u * v
    lengths = tl.sqrt(tl.sum(uu, axis=1)) * tl.sqrt(tl.sum(vv, axis=1))
    cosine = tl.sum(uv, axis=1) / tl.where(lengths == 0, 1.0, lengths)
    target = tl.load(target_ptr + row, mask=row < N, other=0)
    loss = tl.where(target == 1, 1.0 - cosine, 0.0)
    loss = tl.where((target == -1) & ~(cosine <= margin), cosine - margin, loss)  # NaN stays NaN
    if REDUCE:
        tl.store(y_ptr + tl.program_id(0), tl.sum(loss, axis=0))
    else:
        tl.store(y_ptr + row, loss.to(y_ptr.dtype.element_ty), mask=row < N)


@triton.jit
def total_kernel(partial_ptr, y_ptr, programs, divisor, BLOCK: tl.constexpr):
    losses = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, programs, BLOCK):
        i = start + tl.arange(0, BLOCK)
        losses += tl.load(partial_ptr + i, mask=i < programs, other=0.0)
    y = tl.sum(losses, axis=0) / divisor
    tl.store(y_ptr, y.to(y_ptr.dtype.element_ty))


def fused_cosine_embedding_loss_with_normalization(input1, input2, target, margin=0, reduction="mean"):
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"reduction is {reduction!r}, wanted 'none', 'mean' or 'sum'")
    u, v, target = input1.contiguous(), input2.contiguous(), target.contiguous()
    N, D = u.shape
    reduce = reduction != "none"
    y = torch.empty(() if reduce else (N,), dtype=u.dtype, device=u.device)
    columns = min(triton.next_power_of_2(max(D, 1)), 2048)
    rows = min(triton.next_power_of_2(max(N, 1)), 4096 // columns)
    programs = triton.cdiv(N, rows)
    sums = torch.empty(programs, dtype=torch.float32, device=u.device) if reduce else y
    if N:
        loss_kernel[(programs,)](
            u, v, target, sums, N, D, float(margin), reduce, rows, columns, num_warps=8
        )
    if reduce:
        block = min(triton.next_power_of_2(max(programs, 1)), 4096)
        total_kernel[(1,)](sums, y, programs, N if reduction == "mean" else 1, block, num_warps=8)
    return y
