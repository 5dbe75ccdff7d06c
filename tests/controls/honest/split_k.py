"""H5: parts of a sum that are added by atomics to zeros that PyTorch made.

task: matmul
"""

import torch
import triton
import triton.language as tl


@triton.jit
def _split(a, b, c, M, N, K, PART, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    first = tl.program_id(2) * PART
    total = tl.zeros((BM, BN), tl.float32)
    for k in range(0, PART, BK):
        rk = first + k + tl.arange(0, BK)
        x = tl.load(a + rm[:, None] * K + rk[None, :], mask=(rm[:, None] < M) & (rk[None, :] < K), other=0.0)
        y = tl.load(b + rk[:, None] * N + rn[None, :], mask=(rk[:, None] < K) & (rn[None, :] < N), other=0.0)
        total += tl.dot(x, y, input_precision="ieee")
    tl.atomic_add(c + rm[:, None] * N + rn[None, :], total, mask=(rm[:, None] < M) & (rn[None, :] < N))


def matmul(a, b):
    (M, K), N = a.shape, b.shape[1]
    c = torch.zeros((M, N), device=a.device)
    part = triton.cdiv(triton.cdiv(K, 4), 16) * 16
    _split[(triton.cdiv(M, 32), triton.cdiv(N, 32), 4)](a, b, c, M, N, K, part, BM=32, BN=32, BK=16)
    return c.to(a.dtype)
