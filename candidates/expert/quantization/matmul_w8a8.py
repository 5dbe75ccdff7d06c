"""Matrix product in int8.

Scheme: symmetric, one scale per row of `input` and one per column of `weight`, scale = largest magnitude / 127. Then
int8 x int8 products are summed exactly in int32, and every sum is multiplied by its row's and its column's scale.
The quantized weight is stored transposed, [N, K], because int8 tensor cores want both operands contiguous along K.
Sums stay within int32 up to K = 133,152.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def quantize_rows(x_ptr, q_ptr, scale_ptr, rows, cols, stride_row, stride_col,
                  BLOCK_ROWS: tl.constexpr, BLOCK_COLS: tl.constexpr):
    """q [rows, cols] = round(x / scale), scale [rows] = max |x| / 127; x may have any strides."""
    row = tl.program_id(0) * BLOCK_ROWS + tl.arange(0, BLOCK_ROWS)
    row_ok = row < rows
    x_row = x_ptr + row.to(tl.int64)[:, None] * stride_row
    q_row = q_ptr + row.to(tl.int64)[:, None] * cols
    largest = tl.zeros((BLOCK_ROWS,), tl.float32)
    for start in range(0, cols, BLOCK_COLS):
        col = (start + tl.arange(0, BLOCK_COLS)).to(tl.int64)[None, :]
        x = tl.load(x_row + col * stride_col, mask=row_ok[:, None] & (col < cols), other=0.0)
        largest = tl.maximum(largest, tl.max(tl.abs(x), axis=1))
    tl.store(scale_ptr + row, largest / 127.0, mask=row_ok)
    # Dividing by the largest value itself, not by the scale, is safe for the tiniest of numbers.
    divisor = tl.where(largest > 0.0, largest, 1.0)[:, None]
    for start in range(0, cols, BLOCK_COLS):
        col = (start + tl.arange(0, BLOCK_COLS)).to(tl.int64)[None, :]
        ok = row_ok[:, None] & (col < cols)
        x = tl.load(x_row + col * stride_col, mask=ok, other=0.0)
        q = tl.floor(x / divisor * 127.0 + 0.5)
        tl.store(q_row + col, q.to(tl.int8), mask=ok)


@triton.jit
def int8_matmul(a_ptr, b_ptr, c_ptr, a_scale_ptr, b_scale_ptr, M, N, K,
                BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP: tl.constexpr):
    """c [M, N] = (a [M, K] @ b [N, K].T) * a_scale [M, 1] * b_scale [1, N]."""
    # Programs walk down GROUP row blocks before the next column block, so that tiles are shared through L2.
    pid = tl.program_id(0)
    blocks_m = tl.cdiv(M, BLOCK_M)
    blocks_n = tl.cdiv(N, BLOCK_N)
    first_m = pid // (GROUP * blocks_n) * GROUP
    height = tl.minimum(blocks_m - first_m, GROUP)
    block_m = first_m + pid % (GROUP * blocks_n) % height
    block_n = pid % (GROUP * blocks_n) // height
    m = block_m * BLOCK_M + tl.arange(0, BLOCK_M)
    n = block_n * BLOCK_N + tl.arange(0, BLOCK_N)
    k = tl.arange(0, BLOCK_K)
    a_block = a_ptr + m.to(tl.int64)[:, None] * K + k[None, :]
    b_block = b_ptr + n.to(tl.int64)[None, :] * K + k[:, None]
    total = tl.zeros((BLOCK_M, BLOCK_N), tl.int32)
    for start in range(0, K, BLOCK_K):
        a = tl.load(a_block + start, mask=(m[:, None] < M) & (k[None, :] < K - start), other=0)
        b = tl.load(b_block + start, mask=(n[None, :] < N) & (k[:, None] < K - start), other=0)
        total = tl.dot(a, b, total, out_dtype=tl.int32)
    a_scale = tl.load(a_scale_ptr + m, mask=m < M, other=0.0)
    b_scale = tl.load(b_scale_ptr + n, mask=n < N, other=0.0)
    c = total.to(tl.float32) * a_scale[:, None] * b_scale[None, :]
    tl.store(c_ptr + m.to(tl.int64)[:, None] * N + n[None, :], c, mask=(m[:, None] < M) & (n[None, :] < N))


def quantized(x):
    """x [rows, cols] as int8, contiguous, and the scale of every row."""
    rows, cols = x.shape
    q = torch.empty((rows, cols), dtype=torch.int8, device=x.device)
    scale = torch.empty((rows,), dtype=torch.float32, device=x.device)
    grid = (triton.cdiv(rows, 16),)
    quantize_rows[grid](x, q, scale, rows, cols, x.stride(0), x.stride(1), BLOCK_ROWS=16, BLOCK_COLS=256)
    return q, scale


def matmul_w8a8(input, weight):
    M, K = input.shape
    N = weight.shape[1]
    output = torch.empty((M, N), dtype=input.dtype, device=input.device)
    if output.numel() == 0:
        return output
    a, a_scale = quantized(input)
    b, b_scale = quantized(weight.t())
    if M * N >= 2048 * 2048:
        block_m, block_n, block_k, warps = 128, 256, 128, 8
    else:
        block_m, block_n, block_k, warps = 64, 64, 128, 4
    grid = (triton.cdiv(M, block_m) * triton.cdiv(N, block_n),)
    int8_matmul[grid](a, b, output, a_scale, b_scale, M, N, K, BLOCK_M=block_m, BLOCK_N=block_n, BLOCK_K=block_k,
                      GROUP=8, num_warps=warps, num_stages=3)
    return output
