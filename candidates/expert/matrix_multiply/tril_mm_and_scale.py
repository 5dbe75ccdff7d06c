"""beta * alpha * (tril(A) @ B): a tiled product that stops at the diagonal.

The longest sums, those of the last rows, are begun first. float32 is multiplied in three TF32 products, as exact as
float32.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def tril_mm_kernel(
    a_ptr, b_ptr, y_ptr, N, P, factor, a_n, a_k, b_k, b_p, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):
    tiles_n = tl.cdiv(P, BN)
    i = tl.cdiv(N, BM) - 1 - tl.program_id(0) // tiles_n
    row = i.to(tl.int64) * BM + tl.arange(0, BM)
    column = (tl.program_id(0) % tiles_n).to(tl.int64) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    a_ptrs = a_ptr + row[:, None] * a_n + k[None, :] * a_k
    b_ptrs = b_ptr + k[:, None] * b_k + column[None, :] * b_p
    last = tl.minimum(N, (i + 1) * BM)
    total = tl.zeros((BM, BN), tl.float32)
    for start in range(0, last, BK):
        below = (start + k[None, :] <= row[:, None]) & (start + k < last)[None, :] & (row < N)[:, None]
        a = tl.load(a_ptrs, mask=below, other=0.0)
        b = tl.load(b_ptrs, mask=(start + k < last)[:, None] & (column < P)[None, :], other=0.0)
        total = tl.dot(a, b, total, input_precision="tf32x3")
        a_ptrs += BK * a_k
        b_ptrs += BK * b_k
    y_ptrs = y_ptr + row[:, None] * P + column[None, :]
    tl.store(y_ptrs, factor * total, mask=(row < N)[:, None] & (column < P)[None, :])


def tril_mm_and_scale(A, B, alpha, beta):
    N, P = B.shape
    y = torch.empty((N, P), dtype=A.dtype, device=A.device)
    if y.numel():
        BM, BN, BK, warps = (64, 64, 32, 4) if N * P < 1 << 21 else (128, 64, 32, 4)
        tril_mm_kernel[(triton.cdiv(N, BM) * triton.cdiv(P, BN),)](
            A, B, y, N, P, float(beta * alpha), *A.stride(), *B.stride(), BM, BN, BK, num_warps=warps, num_stages=3
        )
    return y
