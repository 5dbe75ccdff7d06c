"""F1: int8 products summed in float16.

task: matmul_w8a8
verdict: WRONG_VALUES
"""

import torch
import triton
import triton.language as tl


@triton.jit
def _product(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), tl.float16)
    for k in range(0, K, BK):
        rk = k + tl.arange(0, BK)
        x = tl.load(a + rm[:, None] * K + rk[None, :], mask=(rm[:, None] < M) & (rk[None, :] < K), other=0)
        y = tl.load(b + rk[:, None] * N + rn[None, :], mask=(rk[:, None] < K) & (rn[None, :] < N), other=0)
        total += tl.dot(x.to(tl.float16), y.to(tl.float16), out_dtype=tl.float16)
    tl.store(c + rm[:, None] * N + rn[None, :], total.to(tl.int32), mask=(rm[:, None] < M) & (rn[None, :] < N))


def matmul_w8a8(input, weight):
    (M, K), N = input.shape, weight.shape[1]
    c = torch.empty((M, N), device=input.device, dtype=torch.int32)
    _product[(triton.cdiv(M, 32), triton.cdiv(N, 32))](input, weight, c, M, N, K, BM=32, BN=32, BK=32)
    return c
