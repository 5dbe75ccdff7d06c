"""Chebyshev polynomial T_n by its recurrence T_k = 2 x T_(k-1) - T_(k-2) in registers: one read, one write.

Far outside of [-1, 1] T_n overflows, and the recurrence then takes an infinity from another: that is put right.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def chebyshev_kernel(x_ptr, y_ptr, n, N: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=0.0)
    before = tl.full((BLOCK,), 1.0, tl.float32)
    y = x if N > 0 else before
    for _ in range(1, N):
        following = 2.0 * x * y - before
        before = y
        y = following
    if N > 1:
        y = tl.where((y != y) & (x == x), tl.where((x < 0) & (N % 2 == 1), -float("inf"), float("inf")), y)
    tl.store(y_ptr + offsets, y, mask=offsets < n)


def chebyshev_polynomial_t(input, n, out=None):
    x = input.contiguous()
    direct = out is not None and out.is_contiguous()
    y = out if direct else torch.empty_like(x)
    count = x.numel()
    if count:
        block, warps = 1024, 8 if y.element_size() > 2 else 4  # 16 bytes a thread
        chebyshev_kernel[(triton.cdiv(count, block),)](x, y, count, n, BLOCK=block, num_warps=warps)
    return y if direct or out is None else out.copy_(y)
