"""base ** exponent as exp2(exponent * log2(base)), with nothing read.

Exponents are counted from the nearer end. In float32 the product is split into its rounded value, which exp2 takes, and
the rest, which corrects the power to first order: otherwise a product of 30 costs five bits. float64 takes its numbers
from memory, since a kernel's arguments have float32.
"""

import math

import torch
import triton
import triton.language as tl


@triton.jit
def logspace_kernel(y_ptr, n, start, end, step, log_base, log_rest, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    exponent = tl.where(i < n // 2, start + step * i.to(tl.float32), end - step * (n - 1 - i).to(tl.float32))
    product = exponent * log_base
    rest = tl.fma(exponent, log_base, -product) + exponent * log_rest
    y = tl.exp2(product) * (1.0 + rest * 0.6931471805599453)
    tl.store(y_ptr + i, y.to(y_ptr.dtype.element_ty), mask=i < n)


@triton.jit
def double_kernel(y_ptr, numbers_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    start, end = tl.load(numbers_ptr), tl.load(numbers_ptr + 1)
    step, log_base = tl.load(numbers_ptr + 2), tl.load(numbers_ptr + 3)
    exponent = tl.where(i < n // 2, start + step * i.to(tl.float64), end - step * (n - 1 - i).to(tl.float64))
    tl.store(y_ptr + i, tl.exp(exponent * log_base), mask=i < n)


def logspace(start, end, steps, base=10.0, dtype=None, layout=torch.strided, device=None, requires_grad=False):
    device = device or ("cuda" if torch.cuda.is_available() else "cpu")
    y = torch.empty(steps, dtype=dtype or torch.get_default_dtype(), layout=layout, device=device)
    step = (end - start) / max(steps - 1, 1)
    end = start if steps == 1 else end
    block, warps = 1024, 8 if y.element_size() > 2 else 4  # 16 bytes a thread
    grid = (triton.cdiv(steps, block),)
    if y.dtype == torch.float64 and steps:
        numbers = torch.tensor([start, end, step, math.log(base)], dtype=torch.float64).to(y.device)
        double_kernel[grid](y, numbers, steps, BLOCK=block, num_warps=warps)
    elif steps:
        log_base = math.log2(base)
        rounded = torch.tensor(log_base, dtype=torch.float32).item()
        logspace_kernel[grid](
            y, steps, float(start), float(end), step, rounded, log_base - rounded, BLOCK=block, num_warps=warps
        )
    return y.requires_grad_(requires_grad)
