"""input * other: one read of each, one write. Tensors that are broadcast are written out first.

Integers are multiplied as int64, floats as float32; complex numbers are read as pairs, real ones beside them with an
imaginary part of 0.
"""

import torch
import triton
import triton.language as tl


@triton.jit(do_not_specialize=["number"])
def mul_kernel(
    x_ptr, other_ptr, y_ptr, n, number, KIND: tl.constexpr, NUMBER: tl.constexpr, BLOCK: tl.constexpr
):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n).to(KIND)
    other = number.to(KIND) if NUMBER else tl.load(other_ptr + offsets, mask=offsets < n).to(KIND)
    tl.store(y_ptr + offsets, (x * other).to(y_ptr.dtype.element_ty), mask=offsets < n)


@triton.jit
def parts(ptr, offsets, n, COMPLEX: tl.constexpr):
    """Real and imaginary parts as float32."""
    if COMPLEX:
        pairs = offsets[:, None] * 2 + tl.arange(0, 2)[None, :]
        real, imag = tl.split(tl.load(ptr + pairs, mask=(offsets < n)[:, None]))
    else:
        real = tl.load(ptr + offsets, mask=offsets < n).to(tl.float32)
        imag = tl.zeros_like(real)
    return real, imag


@triton.jit
def complex_kernel(
    x_ptr, other_ptr, y_ptr, n, real, imag,
    X: tl.constexpr, OTHER: tl.constexpr, NUMBER: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    a, b = parts(x_ptr, offsets, n, X)
    if NUMBER:
        c, d = real, imag
    else:
        c, d = parts(other_ptr, offsets, n, OTHER)
    y = tl.join(a * c - b * d, a * d + b * c)
    pairs = offsets[:, None] * 2 + tl.arange(0, 2)[None, :]
    tl.store(y_ptr + pairs, y, mask=(offsets < n)[:, None])


def plain(x):
    """A contiguous tensor of numbers that Triton knows, and whether they are pairs."""
    return (torch.view_as_real(x.contiguous()), True) if x.is_complex() else (x.contiguous(), False)


def mul(input, other, out=None):
    number = not isinstance(other, torch.Tensor)
    dtype = torch.result_type(input, other)
    x, other_ = (input, input) if number else torch.broadcast_tensors(input, other)
    direct = out is not None and out.is_contiguous() and out.dtype == dtype
    y = out if direct else torch.empty(x.shape, dtype=dtype, device=x.device)
    n = x.numel()
    if n:
        (x, x_pairs), (other_, other_pairs) = plain(x), plain(other_)
        block, warps = 1024, 8 if y.element_size() > 2 else 4  # 16 bytes a thread
        grid = (triton.cdiv(n, block),)
        if y.is_complex():
            value = complex(other) if number else 0j
            complex_kernel[grid](
                x, other_, torch.view_as_real(y), n, value.real, value.imag, x_pairs, other_pairs, number,
                BLOCK=block, num_warps=warps,
            )  # fmt: skip
        else:
            kind, value = (tl.float32, float) if y.is_floating_point() else (tl.int64, int)
            mul_kernel[grid](x, other_, y, n, value(other) if number else value(1), kind, number, BLOCK=block,
                             num_warps=warps)  # fmt: skip
    return y if direct or out is None else out.copy_(y)
