"""Multiply, add, log-softmax and dropout in one pass, then a tiled batched matrix product.

Slices of up to 8192 elements stay in registers; of longer ones, and of those along another dimension than the last, of
which many are taken side by side, the inputs are read twice: once for maximum and sum together, rescaling the sum when
the maximum grows, and once to write. To recompute all that for every tile of the product would cost more than to write
it. Dropout draws from Philox, keyed by a seed from torch's generator; a draw gives four numbers, for four neighbours.
float32 is multiplied in three TF32 products, as exact as float32.
"""

import torch
import triton
import triton.language as tl


@triton.jit(do_not_specialize=["seed"])
def log_softmax_dropout_kernel(
    a_ptr, b_ptr, c_ptr, x_ptr, slices, L, inner, p, scale, seed,
    DROPOUT: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    base = (row // inner * L * inner + row % inner)[:, None]
    top = tl.full((ROWS,), -float("inf"), tl.float32)
    total = tl.zeros((ROWS,), tl.float32)
    z = tl.zeros((ROWS, COLUMNS), tl.float32)
    for start in range(0, L, COLUMNS):
        column = start + tl.arange(0, COLUMNS)
        inside, at = (row < slices)[:, None] & (column < L)[None, :], base + column[None, :].to(tl.int64) * inner
        a, b = tl.load(a_ptr + at, mask=inside, other=0.0), tl.load(b_ptr + at, mask=inside, other=0.0)
        z = a * b + tl.load(c_ptr + at, mask=inside, other=-float("inf"))
        higher = tl.maximum(top, tl.max(z, axis=1))
        shift = tl.where(higher == -float("inf"), 0.0, higher)  # -inf - -inf would be NaN
        total = total * tl.exp(top - shift) + tl.sum(tl.exp(z - shift[:, None]), axis=1)
        top = higher
    for start in range(0, L, COLUMNS):
        column = start + tl.arange(0, COLUMNS)
        inside, at = (row < slices)[:, None] & (column < L)[None, :], base + column[None, :].to(tl.int64) * inner
        if L > COLUMNS:  # else it is still in registers
            a, b = tl.load(a_ptr + at, mask=inside, other=0.0), tl.load(b_ptr + at, mask=inside, other=0.0)
            z = a * b + tl.load(c_ptr + at, mask=inside, other=0.0)
        x = z - top[:, None] - tl.log(total)[:, None]
        if DROPOUT:
            draw = start // 4 + tl.arange(0, COLUMNS // 4)
            u, v, w, y = tl.rand4x(seed, row.to(tl.int32)[:, None] * tl.cdiv(L, 4) + draw[None, :])
            uniform = tl.interleave(tl.interleave(u, v), tl.interleave(w, y))
            x = tl.where(uniform < p, 0.0, x * scale)
        tl.store(x_ptr + at, x, mask=inside)


@triton.jit
def bmm_kernel(
    a_ptr, b_ptr, y_ptr, M, N, K, b_b, b_k, b_n, y_b, y_m, y_n,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    tiles_m, tiles_n = tl.cdiv(M, BM), tl.cdiv(N, BN)
    tile, batch = tl.program_id(0) % (tiles_m * tiles_n), (tl.program_id(0) // (tiles_m * tiles_n)).to(tl.int64)
    first = tile // (8 * tiles_n) * 8  # programs walk down eight tiles before they step right
    height = tl.minimum(tiles_m - first, 8)
    m = (first + tile % (8 * tiles_n) % height) * BM + tl.arange(0, BM)
    n = tile % (8 * tiles_n) // height * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    a_ptrs = a_ptr + (batch * M + m)[:, None] * K + k[None, :]
    b_ptrs = b_ptr + batch * b_b + k[:, None] * b_k + n.to(tl.int64)[None, :] * b_n
    total = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        a = tl.load(a_ptrs, mask=(m < M)[:, None] & (k < K - start)[None, :], other=0.0)
        b = tl.load(b_ptrs, mask=(k < K - start)[:, None] & (n < N)[None, :], other=0.0)
        total = tl.dot(a, b, total, input_precision="tf32x3")
        a_ptrs += BK
        b_ptrs += BK * b_k
    y_ptrs = y_ptr + batch * y_b + m.to(tl.int64)[:, None] * y_m + n.to(tl.int64)[None, :] * y_n
    tl.store(y_ptrs, total, mask=(m < M)[:, None] & (n < N)[None, :])


def fused_mul_add_logsoftmax_dropout_bmm(
    input1, input2, other, mat2, p=0.5, training=True, inplace=False, dim=-1, *, out=None
):
    if not 0.0 <= p <= 1.0:
        raise ValueError(f"the probability of dropout is {p}, wanted 0 to 1")
    if not -3 <= dim <= 2:
        raise IndexError(f"dim is {dim}, wanted -3 to 2")
    B, M, K = input1.shape
    N = mat2.shape[2]
    if mat2.shape[:2] != (B, K):
        raise RuntimeError(f"cannot multiply batches of {list(input1.shape)} and {list(mat2.shape)}")
    y = torch.empty((B, M, N), dtype=input1.dtype, device=input1.device) if out is None else out
    if not y.numel():
        return y
    x = torch.empty((B, M, K), dtype=input1.dtype, device=input1.device)
    if K:
        L, inner = x.shape[dim], x.shape[dim % 3 + 1 :].numel()
        slices, dropout = x.numel() // L, training and p > 0
        columns, rows = max(4, triton.next_power_of_2(L)), 1 if inner == 1 else 32
        columns = columns if columns * rows <= 8192 else 4096 // rows
        rows = min(triton.next_power_of_2(slices), max(rows, 2048 // columns))
        log_softmax_dropout_kernel[(triton.cdiv(slices, rows),)](
            input1.contiguous(), input2.contiguous(), other.contiguous(), x, slices, L, inner, float(p),
            1.0 / (1.0 - p) if p < 1.0 else 0.0, int(torch.randint(2**31 - 1, ())) if dropout else 0,
            dropout, rows, columns, num_warps=8 if rows * columns > 2048 else 4,
        )  # fmt: skip
    block_m = 128 if B * M * N >= 1 << 21 else 64
    bmm_kernel[(B * triton.cdiv(M, block_m) * triton.cdiv(N, 64),)](
        x, mat2, y, M, N, K, *mat2.stride(), *y.stride(), block_m, 64, 32, num_warps=4, num_stages=3
    )
    return y
