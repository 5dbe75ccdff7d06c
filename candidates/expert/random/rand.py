"""Uniform random numbers from Philox: a counter gives four words of 32 bits, and the upper bits of one make a number.

The counter is the position, the key is drawn from PyTorch's generator. A number takes as many bits as its type has, so
that nothing is rounded up to 1. Seven rounds pass all tests of BigCrush (Salmon and others, SC 2011).
"""

import torch
import triton
import triton.language as tl


@triton.jit(do_not_specialize=["seed"])
def rand_kernel(y_ptr, n, seed, WIDE: tl.constexpr, BITS: tl.constexpr, BLOCK: tl.constexpr):
    """Numbers of BITS bits, from two words each if WIDE, from one otherwise."""
    lane = tl.arange(0, BLOCK)
    a, b, c, d = tl.randint4x(seed, tl.program_id(0).to(tl.int64) * BLOCK + lane, 7)
    if WIDE:
        scale: tl.constexpr = 2.0**-53
        first = tl.program_id(0).to(tl.int64) * (2 * BLOCK) + lane
        low = ((a >> 5).to(tl.float64) * 67108864.0 + (b >> 6).to(tl.float64)) * scale
        high = ((c >> 5).to(tl.float64) * 67108864.0 + (d >> 6).to(tl.float64)) * scale
        tl.store(y_ptr + first, low, mask=first < n)
        tl.store(y_ptr + first + BLOCK, high, mask=first + BLOCK < n)
    else:
        first = tl.program_id(0).to(tl.int64) * (4 * BLOCK) + lane
        for k in tl.static_range(4):
            word = a if k == 0 else b if k == 1 else c if k == 2 else d
            i = first + k * BLOCK
            y = (word >> (32 - BITS)).to(tl.float32) * 2.0**-BITS
            tl.store(y_ptr + i, y.to(y_ptr.dtype.element_ty), mask=i < n)


def rand(
    *size, generator=None, out=None, dtype=None, layout=torch.strided, device=None, requires_grad=False,
    pin_memory=False,
):  # fmt: skip
    size = list(size[0]) if len(size) == 1 and not isinstance(size[0], int) else list(size)
    if out is not None:
        device, dtype = out.device, out.dtype
    elif device is None:
        device = "cuda" if torch.cuda.is_available() else "cpu"
    source = generator.device if generator is not None else "cpu"
    seed = int(torch.randint(2**63 - 1, (), generator=generator, device=source))
    direct = out is not None and out.is_contiguous()
    y = out if direct else torch.empty(size, dtype=dtype, layout=layout, device=device, pin_memory=pin_memory)
    n = y.numel()
    if n:
        wide = y.dtype == torch.float64
        bits = {torch.float16: 11, torch.bfloat16: 8}.get(y.dtype, 24)
        block = 256 if n <= 1 << 18 else 1024
        rand_kernel[(triton.cdiv(n, (2 if wide else 4) * block),)](y, n, seed, wide, bits, BLOCK=block)
    y = y if direct or out is None else out.copy_(y)
    return y.requires_grad_(requires_grad)
