"""Batch of matrix products in int8.

Scheme: symmetric, one scale per row of `input` and one per column of `mat2`, scale = largest magnitude / 127. Then
int8 x int8 products are summed exactly in int32, and every sum is multiplied by its row's and its column's scale.
The quantized `mat2` is stored transposed, [B, N, K], because int8 tensor cores want both operands contiguous along K.
Sums stay within int32 up to K = 133,152.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def quantize_rows(x_ptr, q_ptr, scale_ptr, rows, cols, x_batch, x_row, x_col,
                  BLOCK_ROWS: tl.constexpr, BLOCK_COLS: tl.constexpr):
    """q [B, rows, cols] = round(x / scale), scale [B, rows] = max |x| / 127; x may have any strides."""
    blocks = tl.cdiv(rows, BLOCK_ROWS)
    batch = (tl.program_id(0) // blocks).to(tl.int64)
    row = (tl.program_id(0) % blocks).to(tl.int64) * BLOCK_ROWS + tl.arange(0, BLOCK_ROWS)
    row_ok = (row < rows)[:, None]
    x_at = x_ptr + batch * x_batch + row[:, None] * x_row
    q_at = q_ptr + (batch * rows + row)[:, None] * cols
    largest = tl.zeros((BLOCK_ROWS,), tl.float32)
    for start in range(0, cols, BLOCK_COLS):
        col = (start + tl.arange(0, BLOCK_COLS)).to(tl.int64)[None, :]
        x = tl.load(x_at + col * x_col, mask=row_ok & (col < cols), other=0.0)
        largest = tl.maximum(largest, tl.max(tl.abs(x), axis=1))
    tl.store(scale_ptr + batch * rows + row, largest / 127.0, mask=row < rows)
    # Dividing by the largest value itself, not by the scale, is safe for the tiniest of numbers.
    divisor = tl.where(largest > 0.0, largest, 1.0)[:, None]
    for start in range(0, cols, BLOCK_COLS):
        col = (start + tl.arange(0, BLOCK_COLS)).to(tl.int64)[None, :]
        ok = row_ok & (col < cols)
        x = tl.load(x_at + col * x_col, mask=ok, other=0.0)
        q = tl.floor(x / divisor * 127.0 + 0.5)
        tl.store(q_at + col, q.to(tl.int8), mask=ok)


@triton.jit
def int8_bmm(a_ptr, b_ptr, c_ptr, a_scale_ptr, b_scale_ptr, M, N, K,
             BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP: tl.constexpr):
    """c [B, M, N] = (a [B, M, K] @ b [B, N, K].mT) * a_scale [B, M, 1] * b_scale [B, 1, N]."""
    # Programs walk down GROUP row blocks before the next column block, so that tiles are shared through L2.
    blocks_m, blocks_n = tl.cdiv(M, BLOCK_M), tl.cdiv(N, BLOCK_N)
    batch = (tl.program_id(0) // (blocks_m * blocks_n)).to(tl.int64)
    tile = tl.program_id(0) % (blocks_m * blocks_n)
    first_m = tile // (GROUP * blocks_n) * GROUP
    height = tl.minimum(blocks_m - first_m, GROUP)
    m = (first_m + tile % height).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = (tile % (GROUP * blocks_n) // height).to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)
    k = tl.arange(0, BLOCK_K)
    a_block = a_ptr + (batch * M + m)[:, None] * K + k[None, :]
    b_block = b_ptr + (batch * N + n)[None, :] * K + k[:, None]
    total = tl.zeros((BLOCK_M, BLOCK_N), tl.int32)
    for start in range(0, K, BLOCK_K):
        a = tl.load(a_block + start, mask=(m[:, None] < M) & (k[None, :] < K - start), other=0)
        b = tl.load(b_block + start, mask=(n[None, :] < N) & (k[:, None] < K - start), other=0)
        total = tl.dot(a, b, total, out_dtype=tl.int32)
    a_scale = tl.load(a_scale_ptr + batch * M + m, mask=m < M, other=0.0)
    b_scale = tl.load(b_scale_ptr + batch * N + n, mask=n < N, other=0.0)
    c = total.to(tl.float32) * a_scale[:, None] * b_scale[None, :]
    tl.store(c_ptr + (batch * M + m)[:, None] * N + n[None, :], c, mask=(m[:, None] < M) & (n[None, :] < N))


def quantized(x):
    """x [B, rows, cols] as int8, contiguous, and the scale of every row."""
    B, rows, cols = x.shape
    q = torch.empty((B, rows, cols), dtype=torch.int8, device=x.device)
    scale = torch.empty((B, rows), dtype=torch.float32, device=x.device)
    # Wide in the direction in which x is contiguous.
    block_rows, block_cols = (16, 256) if x.stride(2) == 1 else (64, 64)
    quantize_rows[(B * triton.cdiv(rows, block_rows),)](
        x, q, scale, rows, cols, *x.stride(), BLOCK_ROWS=block_rows, BLOCK_COLS=block_cols)
    return q, scale


def bmm_w8a8(input, mat2):
    B, M, K = input.shape
    N = mat2.shape[2]
    output = torch.empty((B, M, N), dtype=input.dtype, device=input.device)
    if output.numel() == 0:
        return output
    a, a_scale = quantized(input)
    b, b_scale = quantized(mat2.mT)
    if B * M * N >= 2048 * 2048 and M > 64:
        block_m, block_n, block_k, warps = 128, 256, 128, 8
    else:
        block_m, block_n, block_k, warps = 64, 64, 128, 4
    int8_bmm[(B * triton.cdiv(M, block_m) * triton.cdiv(N, block_n),)](
        a, b, output, a_scale, b_scale, M, N, K, BLOCK_M=block_m, BLOCK_N=block_n, BLOCK_K=block_k,
        GROUP=8, num_warps=warps, num_stages=3)
    return output
