"""H7: a tensor descriptor made by the host.

task: scaled
"""

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor


@triton.jit
def _scale(source, target, alpha, BM: tl.constexpr, BN: tl.constexpr):
    m, n = tl.program_id(0) * BM, tl.program_id(1) * BN
    target.store([m, n], source.load([m, n]) * alpha)


@triton.jit
def _plain(x, bias, out, alpha, N, n, HAS: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + i, mask=i < n) * alpha
    if HAS:
        value += tl.load(bias + i % N, mask=i < n)
    tl.store(out + i, value, mask=i < n)


def scaled(x, alpha=2.0, bias=None):
    out = torch.empty_like(x)
    M, N = x.shape
    if bias is None and N % 4 == 0:  # a descriptor wants rows that begin at multiples of 16 bytes
        source, target = (TensorDescriptor.from_tensor(tensor, [16, 32]) for tensor in (x, out))
        _scale[(triton.cdiv(M, 16), triton.cdiv(N, 32))](source, target, alpha, BM=16, BN=32)
    else:
        grid = (triton.cdiv(x.numel(), 256),)
        _plain[grid](x, bias, out, alpha, N, x.numel(), HAS=bias is not None, BLOCK=256)
    return out
