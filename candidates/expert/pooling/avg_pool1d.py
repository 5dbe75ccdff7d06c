"""Average pooling along the last axis: a program for a block of output elements, all rows counted through."""

import torch
import triton
import triton.language as tl


@triton.jit
def avg_pool1d_kernel(x_ptr, y_ptr, TOTAL, L, OUT, kernel_size, stride, padding, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    row = i // OUT
    first = i % OUT * stride - padding
    total = tl.zeros((BLOCK,), tl.float32)
    for k in range(0, kernel_size):
        at = first + k
        total += tl.load(x_ptr + row * L + at, mask=(i < TOTAL) & (at >= 0) & (at < L), other=0.0)
    tl.store(y_ptr + i, total / kernel_size, mask=i < TOTAL)


def number(value):
    return value if isinstance(value, int) else value[0]


def avg_pool1d(input, kernel_size, stride=None, padding=0):
    kernel_size, padding = number(kernel_size), number(padding)
    stride = kernel_size if stride is None else number(stride)
    L = input.shape[-1]
    OUT = (L + 2 * padding - kernel_size) // stride + 1
    if OUT <= 0:
        raise RuntimeError(f"a window of {kernel_size} does not fit an input of length {L}, padding {padding}")
    if padding < 0 or padding > kernel_size // 2:
        raise RuntimeError(f"padding is {padding}, wanted at most half of the window, {kernel_size // 2}")
    output = torch.empty((*input.shape[:-1], OUT), dtype=input.dtype, device=input.device)
    total = output.numel()
    if total:
        avg_pool1d_kernel[(triton.cdiv(total, 1024),)](
            input.contiguous(), output, total, L, OUT, kernel_size, stride, padding, BLOCK=1024)
    return output
