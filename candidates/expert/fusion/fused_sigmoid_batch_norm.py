"""The logistic function of batch normalisation of (N, C, S), S being all dimensions after the channel.

In training the statistics come first. Every program takes some channels and a part of their N * S values and merges
tile after tile as Chan, Golub and LeVeque do (mean, and sum of squares about it): no cancellation, however large the
mean is. One more launch merges the parts, always in the same order, and updates the running statistics.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def merge(n, mean, m2, n_new, mean_new, m2_new):
    total = tl.maximum(n + n_new, 1)
    delta = mean_new - mean
    return n + n_new, mean + delta * n_new / total, m2 + m2_new + delta * delta * (n * n_new / total)


@triton.jit
def partial_kernel(x_ptr, mean_ptr, m2_ptr, N, C, S, part, CHANNELS: tl.constexpr, BLOCK: tl.constexpr):
    """Mean and m2 of x[:, c, :] between the values p * part and (p + 1) * part."""
    channel = tl.program_id(0) * CHANNELS + tl.arange(0, CHANNELS)
    first = tl.program_id(1) * part
    last = tl.minimum(first + part, N * S)
    n = 0.0
    mean = tl.zeros((CHANNELS,), tl.float32)
    m2 = tl.zeros((CHANNELS,), tl.float32)
    for start in range(first, last, BLOCK):
        j = start + tl.arange(0, BLOCK)
        offsets = (j // S).to(tl.int64) * C * S + j % S
        inside = (channel < C)[:, None] & (j < last)[None, :]
        x = tl.load(x_ptr + channel.to(tl.int64)[:, None] * S + offsets[None, :], mask=inside, other=0.0).to(tl.float32)
        here = tl.minimum(last - start, BLOCK).to(tl.float32)
        mean_here = tl.sum(x, axis=1) / here
        d = tl.where(inside, x - mean_here[:, None], 0.0)
        n, mean, m2 = merge(n, mean, m2, here, mean_here, tl.sum(d * d, axis=1))
    tl.store(mean_ptr + tl.program_id(1) * C + channel, mean, mask=channel < C)
    tl.store(m2_ptr + tl.program_id(1) * C + channel, m2, mask=channel < C)


@triton.jit
def finish_kernel(
    mean_ptr, m2_ptr, running_mean_ptr, running_var_ptr, mean_stride, var_stride, count, C, part, parts, momentum,
    CHANNELS: tl.constexpr,
):  # fmt: skip
    """Merge the parts into part 0: mean and variance of the batch."""
    channel = tl.program_id(0) * CHANNELS + tl.arange(0, CHANNELS)
    inside = channel < C
    n = 0.0
    mean = tl.zeros((CHANNELS,), tl.float32)
    m2 = tl.zeros((CHANNELS,), tl.float32)
    for p in range(0, parts):
        here = tl.minimum(count - p * part, part).to(tl.float32)
        mean_here = tl.load(mean_ptr + p * C + channel, mask=inside, other=0.0)
        m2_here = tl.load(m2_ptr + p * C + channel, mask=inside, other=0.0)
        n, mean, m2 = merge(n, mean, m2, here, mean_here, m2_here)
    tl.store(mean_ptr + channel, mean, mask=inside)
    tl.store(m2_ptr + channel, m2 / count, mask=inside)
    mean_ptrs = running_mean_ptr + channel * mean_stride
    var_ptrs = running_var_ptr + channel * var_stride
    old_mean = tl.load(mean_ptrs, mask=inside).to(tl.float32)
    old_var = tl.load(var_ptrs, mask=inside).to(tl.float32)
    new_mean = (1.0 - momentum) * old_mean + momentum * mean
    new_var = (1.0 - momentum) * old_var + momentum * (m2 / (count - 1))
    tl.store(mean_ptrs, new_mean.to(running_mean_ptr.dtype.element_ty), mask=inside)
    tl.store(var_ptrs, new_var.to(running_var_ptr.dtype.element_ty), mask=inside)


@triton.jit
def normalize_sigmoid_kernel(
    x_ptr, y_ptr, mean_ptr, var_ptr, weight_ptr, bias_ptr, rows, C, S, eps,
    WEIGHT: tl.constexpr, BIAS: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    first = tl.program_id(0).to(tl.int64) * ROWS
    row = first + tl.arange(0, ROWS)
    channel = ((first % C).to(tl.int32) + tl.arange(0, ROWS)) % C
    scale = tl.rsqrt(tl.load(var_ptr + channel) + eps)
    if WEIGHT:
        scale *= tl.load(weight_ptr + channel).to(tl.float32)
    mean = tl.load(mean_ptr + channel)
    bias = tl.load(bias_ptr + channel).to(tl.float32) if BIAS else tl.zeros((ROWS,), tl.float32)
    s = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = (row < rows)[:, None] & (s < S)[None, :]
    x = tl.load(x_ptr + row[:, None] * S + s[None, :], mask=inside).to(tl.float32)
    z = (x - mean[:, None]) * scale[:, None] + bias[:, None]
    y = 1.0 / (1.0 + tl.exp(-z))
    tl.store(y_ptr + row[:, None] * S + s[None, :], y.to(y_ptr.dtype.element_ty), mask=inside)


def batch_statistics(x, N, C, S, running_mean, running_var, momentum):
    count = N * S
    least = 1 if S >= 32 else 32  # channels that are neighbours in memory where S is short
    channels = min(triton.next_power_of_2(C), max(least, 4096 // triton.next_power_of_2(count)))
    block = min(triton.next_power_of_2(count), 4096 // channels)
    groups = triton.cdiv(C, channels)
    parts = max(1, min(triton.cdiv(count, 2 * block), triton.cdiv(1024, groups)))
    part = triton.cdiv(triton.cdiv(count, parts), block) * block
    parts = triton.cdiv(count, part)
    mean, m2 = (torch.empty((parts, C), dtype=torch.float32, device=x.device) for _ in range(2))
    partial_kernel[(groups, parts)](x, mean, m2, N, C, S, part, channels, block, num_warps=8)
    finish_kernel[(triton.cdiv(C, 128),)](
        mean, m2, running_mean, running_var, running_mean.stride(0), running_var.stride(0), count, C, part, parts,
        float(momentum), 128,
    )  # fmt: skip
    return mean[0], m2[0]


def fused_sigmoid_batch_norm(
    input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-5
):
    x = input.contiguous()
    N, C = x.shape[:2]
    S = x.shape[2:].numel()
    y = torch.empty_like(x)
    if not x.numel():
        return y
    if training:
        mean, var = batch_statistics(x, N, C, S, running_mean, running_var, momentum)
    else:
        mean, var = running_mean.contiguous(), running_var.contiguous()
    weight = weight if weight is None else weight.contiguous()
    bias = bias if bias is None else bias.contiguous()
    block = min(triton.next_power_of_2(S), 4096)
    rows = min(triton.next_power_of_2(N * C), 4096 // block)
    normalize_sigmoid_kernel[(triton.cdiv(N * C, rows), triton.cdiv(S, block))](
        x, y, mean, var, mean if weight is None else weight, mean if bias is None else bias, N * C, C, S, float(eps),
        weight is not None, bias is not None, rows, block, num_warps=8,
    )  # fmt: skip
    return y
