"""Batched matrix product with dropout and GELU on the tile that is still in registers.

Dropout draws from Philox, counted by the position in the matrix and keyed by a seed from torch's generator plus the
number of the matrix, so that no mask has to be stored; a draw gives four numbers, for four neighbours. float32 is
multiplied in three TF32 products, as exact as float32.
"""

import torch
import triton
import triton.language as tl


@triton.jit(do_not_specialize=["seed"])
def bmm_dropout_gelu(
    a_ptr, b_ptr, c_ptr, M, N, K, a_b, a_m, a_k, b_b, b_k, b_n, c_b, c_m, c_n, p, scale, seed,
    DROPOUT: tl.constexpr, TANH: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP: tl.constexpr,
):  # fmt: skip
    pid = tl.program_id(0)
    batch = tl.program_id(1)
    blocks_m = tl.cdiv(M, BLOCK_M)
    blocks_n = tl.cdiv(N, BLOCK_N)
    first_m = pid // (GROUP * blocks_n) * GROUP
    height = tl.minimum(blocks_m - first_m, GROUP)
    m = (first_m + pid % (GROUP * blocks_n) % height) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = pid % (GROUP * blocks_n) // height * BLOCK_N + tl.arange(0, BLOCK_N)
    k = tl.arange(0, BLOCK_K)
    a_block = a_ptr + batch.to(tl.int64) * a_b + m.to(tl.int64)[:, None] * a_m + k[None, :] * a_k
    b_block = b_ptr + batch.to(tl.int64) * b_b + n.to(tl.int64)[None, :] * b_n + k[:, None] * b_k
    x = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for start in range(0, K, BLOCK_K):
        a = tl.load(a_block, mask=(m[:, None] < M) & (k[None, :] < K - start), other=0.0)
        b = tl.load(b_block, mask=(n[None, :] < N) & (k[:, None] < K - start), other=0.0)
        x = tl.dot(a, b, x, input_precision="tf32x3")
        a_block += BLOCK_K * a_k
        b_block += BLOCK_K * b_k
    if DROPOUT:
        draw = tl.min(n, axis=0) // 4 + tl.arange(0, BLOCK_N // 4)
        r, s, t, u = tl.rand4x(seed + batch, m[:, None] * tl.cdiv(N, 4) + draw[None, :])
        uniform = tl.interleave(tl.interleave(r, s), tl.interleave(t, u))
        x = tl.where(uniform < p, 0.0, x * scale)
    if TANH:
        # (1 + tanh(u)) / 2 is the logistic function of 2 u.
        y = x * tl.sigmoid(1.5957691216057308 * (x + 0.044715 * x * x * x))
    else:
        y = 0.5 * x * (1.0 + tl.erf(x * 0.7071067811865476))
    c_at = c_ptr + batch.to(tl.int64) * c_b + m.to(tl.int64)[:, None] * c_m + n.to(tl.int64)[None, :] * c_n
    tl.store(c_at, y.to(c_ptr.dtype.element_ty), mask=(m[:, None] < M) & (n[None, :] < N))


def fused_bmm_dropout_gelu(input1, input2, p=0.5, training=True, inplace=False, approximate="none", *, out=None):
    if not 0.0 <= p <= 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    if approximate not in ("none", "tanh"):
        raise RuntimeError(f"approximate argument must be either none or tanh, but got {approximate!r}")
    B, M, K = input1.shape
    if input2.dim() != 3 or input2.shape[:2] != (B, K):
        raise RuntimeError(f"cannot multiply batches of {list(input1.shape)} and {list(input2.shape)}")
    N = input2.shape[2]
    if out is None:
        out = torch.empty((B, M, N), dtype=input1.dtype, device=input1.device)
    if out.numel() == 0:
        return out
    dropout = training and p > 0.0
    seed = int(torch.randint(2**31 - 1, ())) if dropout else 0
    block_m, block_n, block_k, warps = 64, 64, 32, 4
    if B * M * N >= 1 << 21:
        block_m, block_n, block_k, warps = (128, 64, 32, 4) if out.dtype == torch.float32 else (128, 128, 64, 8)
    bmm_dropout_gelu[(triton.cdiv(M, block_m) * triton.cdiv(N, block_n), B)](
        input1, input2, out, M, N, K, *input1.stride(), *input2.stride(), *out.stride(),
        float(p), 1.0 / (1.0 - p) if p < 1.0 else 0.0, seed, DROPOUT=dropout, TANH=approximate == "tanh",
        BLOCK_M=block_m, BLOCK_N=block_n, BLOCK_K=block_k, GROUP=8, num_warps=warps, num_stages=3,
    )  # fmt: skip
    return out
