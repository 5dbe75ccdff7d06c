"""Cosine and average pooling along the last axis: a program for a block of results, all rows counted through.

The cosines of a window are computed anew for each window: that costs less than to store them.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def cos_pool_kernel(
    x_ptr, y_ptr, total, L, OUT, kernel_size, stride, padding, COUNT_PADDING: tl.constexpr, BLOCK: tl.constexpr
):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    first = i % OUT * stride - padding
    x_ptrs = x_ptr + i // OUT * L + first
    sums = tl.zeros((BLOCK,), tl.float32)
    for k in range(0, kernel_size):
        inside = (i < total) & (first + k >= 0) & (first + k < L)
        x = tl.load(x_ptrs + k, mask=inside, other=0.0).to(tl.float32)
        sums += tl.where(inside, tl.cos(x), 0.0)
    if COUNT_PADDING:
        count = tl.minimum(first + kernel_size, L + padding) - first
    else:
        count = tl.minimum(first + kernel_size, L) - tl.maximum(first, 0)
    y = sums / count.to(tl.float32)
    tl.store(y_ptr + i, y.to(y_ptr.dtype.element_ty), mask=i < total)


def one(value):
    return value if isinstance(value, int) else value[0]


def fused_cos_avg_pool1d(input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True):
    kernel_size, padding = one(kernel_size), one(padding)
    stride = kernel_size if stride is None else one(stride)
    if not 0 <= padding <= kernel_size // 2:
        raise RuntimeError(f"padding is {padding}, wanted at most half of the window, {kernel_size // 2}")
    L = input.shape[-1]
    room = L + 2 * padding - kernel_size
    OUT = (room + (stride - 1 if ceil_mode else 0)) // stride + 1
    if ceil_mode and (OUT - 1) * stride >= L + padding:
        OUT -= 1  # it would begin in the zeros at the end
    if OUT <= 0:
        raise RuntimeError(f"a window of {kernel_size} does not fit an input of length {L}, padding {padding}")
    y = torch.empty((*input.shape[:-1], OUT), dtype=input.dtype, device=input.device)
    total = y.numel()
    if total:
        cos_pool_kernel[(triton.cdiv(total, 1024),)](
            input.contiguous(), y, total, L, OUT, kernel_size, stride, padding, bool(count_include_pad), BLOCK=1024
        )
    return y
