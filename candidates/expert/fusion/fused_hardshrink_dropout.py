"""Dropout and hard shrinkage: one read, one write, and a second one where the input keeps what dropout gave.

Dropout draws from Philox, keyed by a seed from torch's generator; a draw gives four numbers, for four neighbours.
"""

import torch
import triton
import triton.language as tl


@triton.jit(do_not_specialize=["seed"])
def hardshrink_dropout_kernel(
    x_ptr, kept_ptr, y_ptr, n, p, scale, seed, lambd, DROPOUT: tl.constexpr, KEEP: tl.constexpr, BLOCK: tl.constexpr
):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n).to(tl.float32)
    if DROPOUT:
        draws = tl.program_id(0) * (BLOCK // 4) + tl.arange(0, BLOCK // 4)
        a, b, c, d = tl.rand4x(seed, draws)
        uniform = tl.interleave(tl.interleave(a, b), tl.interleave(c, d))
        x = tl.where(uniform < p, 0.0, x * scale)
    if KEEP:
        tl.store(kept_ptr + offsets, x.to(kept_ptr.dtype.element_ty), mask=offsets < n)
    y = tl.where((x >= -lambd) & (x <= lambd), 0.0, x)
    tl.store(y_ptr + offsets, y.to(y_ptr.dtype.element_ty), mask=offsets < n)


def fused_hardshrink_dropout(input, p=0.5, training=True, inplace=False, lambd=0.5):
    if not 0.0 <= p <= 1.0:
        raise ValueError(f"the probability of dropout is {p}, wanted 0 to 1")
    x = input.contiguous()
    y = torch.empty_like(x)
    dropout = training and p > 0.0
    keep = inplace and dropout
    seed = int(torch.randint(2**31 - 1, ())) if dropout else 0
    n = x.numel()
    if n:
        block, warps = 1024, 8 if y.element_size() > 2 else 4  # 16 bytes a thread
        hardshrink_dropout_kernel[(triton.cdiv(n, block),)](
            x, x, y, n, float(p), 1.0 / (1.0 - p) if p < 1.0 else 0.0, seed, float(lambd), dropout, keep,
            BLOCK=block, num_warps=warps,
        )  # fmt: skip
    if keep and x is not input:
        input.copy_(x)
    return y
