"""input + alpha * other: flat where both are contiguous and alike; otherwise by strides, so that nothing is copied.

Dimensions that lie in memory as one, in both, are joined first; four that are left suffice for nearly every broadcast.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def flat_kernel(x_ptr, other_ptr, y_ptr, n, number, alpha, NUMBER: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n).to(tl.float32)
    other = number if NUMBER else tl.load(other_ptr + offsets, mask=offsets < n).to(tl.float32)
    tl.store(y_ptr + offsets, (x + alpha * other).to(y_ptr.dtype.element_ty), mask=offsets < n)


@triton.jit
def strided_kernel(
    x_ptr, other_ptr, y_ptr, n, alpha, n1, n2, n3, x0, x1, x2, x3, o0, o1, o2, o3, BLOCK: tl.constexpr
):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    i3, rest = offsets % n3, offsets // n3
    i2, rest = rest % n2, rest // n2
    i1, i0 = rest % n1, rest // n1
    x = tl.load(x_ptr + i0 * x0 + i1 * x1 + i2 * x2 + i3 * x3, mask=offsets < n).to(tl.float32)
    other = tl.load(other_ptr + i0 * o0 + i1 * o1 + i2 * o2 + i3 * o3, mask=offsets < n).to(tl.float32)
    tl.store(y_ptr + offsets, (x + alpha * other).to(y_ptr.dtype.element_ty), mask=offsets < n)


def joined(shape, *strides):
    """Lengths and strides with neighbours joined that lie in memory as one, without lengths of 1; filled up to four."""
    lengths, kept = [], [[] for _ in strides]
    for d, length in enumerate(shape):
        if length == 1:
            continue
        if lengths and all(k[-1] == length * s[d] for k, s in zip(kept, strides, strict=True)):
            lengths[-1] *= length
            for k, s in zip(kept, strides, strict=True):
                k[-1] = s[d]
        else:
            lengths.append(length)
            for k, s in zip(kept, strides, strict=True):
                k.append(s[d])
    missing = 4 - len(lengths)
    return [1] * missing + lengths, [[0] * missing + k for k in kept]


def add(input, other, alpha=1, out=None):
    number = not isinstance(other, torch.Tensor)
    shape = input.shape if number else torch.broadcast_shapes(input.shape, other.shape)
    direct = out is not None and out.is_contiguous()
    y = out if direct else torch.empty(shape, dtype=input.dtype, device=input.device)
    n = y.numel()
    if n:
        block, warps = 1024, 8 if y.element_size() > 2 else 4  # 16 bytes a thread
        grid = (triton.cdiv(n, block),)
        x = input.contiguous() if number else input.expand(shape)
        other_ = x if number else other.expand(shape)
        lengths, strides = joined(shape, x.stride(), other_.stride())
        if len(lengths) > 4:
            x, other_ = x.contiguous(), other_.contiguous()
            lengths, strides = joined(shape, x.stride(), other_.stride())
        if x.is_contiguous() and other_.is_contiguous():
            value = float(other) if number else 0.0
            flat_kernel[grid](x, other_, y, n, value, float(alpha), number, BLOCK=block, num_warps=warps)
        else:
            strided_kernel[grid](
                x, other_, y, n, float(alpha), *lengths[1:], *strides[0], *strides[1], BLOCK=block, num_warps=warps
            )
    return y if direct or out is None else out.copy_(y)
