"""gelu(input - alpha * other): one read of each, one write; tensors that are broadcast are written out first.

The tanh form of GELU is a logistic function: (1 + tanh(u)) / 2 = 1 / (1 + exp(-2 u)).
"""

import torch
import triton
import triton.language as tl


@triton.jit
def sub_gelu_kernel(
    x_ptr, other_ptr, y_ptr, n, number, alpha, NUMBER: tl.constexpr, TANH: tl.constexpr, BLOCK: tl.constexpr
):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    other = number if NUMBER else tl.load(other_ptr + offsets, mask=offsets < n).to(tl.float32)
    x = tl.load(x_ptr + offsets, mask=offsets < n).to(tl.float32) - alpha * other
    if TANH:
        u = 0.7978845608028654 * (x + 0.044715 * x * x * x)  # sqrt(2 / pi)
        y = x / (1.0 + tl.exp(-2.0 * u))
    else:
        y = 0.5 * x * (1.0 + tl.erf(x * 0.7071067811865476))
    tl.store(y_ptr + offsets, y.to(y_ptr.dtype.element_ty), mask=offsets < n)


def fused_sub_gelu(input, other, alpha=1, approximate="none", out=None):
    if approximate not in ("none", "tanh"):
        raise RuntimeError(f"approximate must be 'none' or 'tanh', not {approximate!r}")
    number = not isinstance(other, torch.Tensor)
    x, other_ = (input, input) if number else torch.broadcast_tensors(input, other)
    x, other_ = x.contiguous(), other_ if number else other_.contiguous()
    direct = out is not None and out.is_contiguous()
    y = out if direct else torch.empty_like(x)
    n = x.numel()
    if n:
        block, warps = 1024, 8 if y.element_size() > 2 else 4  # 16 bytes a thread
        value = float(other) if number else 0.0
        sub_gelu_kernel[(triton.cdiv(n, block),)](
            x, other_, y, n, value, float(alpha), number, approximate == "tanh", BLOCK=block, num_warps=warps
        )
    return y if direct or out is None else out.copy_(y)
