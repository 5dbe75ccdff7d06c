"""Attention in int8, one pass over the keys (online softmax).

Scheme: symmetric, scale = largest magnitude / 127, one scale per row of query and of key, and one per channel of value
for every block of 64 keys. Scores are int8 x int8 sums in int32, times both scales; the softmax is float32. Its weights
are quantized, too: within a block of keys they are exp(score - block's largest score), between 0 and 1, so that a fixed
scale of 1 / 127 fits. The block's product with value is int8 x int8 into int32 again and joins the running sum with the
factor exp(block's largest - largest so far). The denominator adds the quantized weights, so that they sum to one.
"""

import torch
import triton
import triton.language as tl

KEYS = 64


@triton.jit
def quantize(x_ptr, q_ptr, scale_ptr, S, D, stride_b, stride_s, stride_d,
             PER_ROW: tl.constexpr, BLOCK_S: tl.constexpr, BLOCK_D: tl.constexpr):
    """q [B, S, D]; scale [B, S] of every row, or [B, S / BLOCK_S, D] of every channel of a block of rows."""
    block, batch = tl.program_id(0), tl.program_id(1).to(tl.int64)
    s = (block * BLOCK_S + tl.arange(0, BLOCK_S)).to(tl.int64)
    d = tl.arange(0, BLOCK_D)
    ok = (s[:, None] < S) & (d[None, :] < D)
    x = tl.load(x_ptr + batch * stride_b + s[:, None] * stride_s + d[None, :] * stride_d, mask=ok, other=0.0)
    if PER_ROW:
        largest = tl.max(tl.abs(x), axis=1, keep_dims=True)
        tl.store(scale_ptr + batch * S + s[:, None], largest / 127.0, mask=s[:, None] < S)
    else:
        largest = tl.max(tl.abs(x), axis=0, keep_dims=True)
        blocks = tl.cdiv(S, BLOCK_S)
        tl.store(scale_ptr + (batch * blocks + block) * D + d[None, :], largest / 127.0, mask=d[None, :] < D)
    q = tl.floor(x / tl.where(largest > 0.0, largest, 1.0) * 127.0 + 0.5)
    tl.store(q_ptr + (batch * S + s[:, None]) * D + d[None, :], q.to(tl.int8), mask=ok)


@triton.jit
def int8_attention(q_ptr, k_ptr, v_ptr, q_scale_ptr, k_scale_ptr, v_scale_ptr, o_ptr, S, D, factor,
                   BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_D: tl.constexpr):
    """o [B, S, D] for BLOCK_M queries; factor = 1 / sqrt(D), times log2(e) for the sake of exp2."""
    batch = tl.program_id(1).to(tl.int64)
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tl.arange(0, BLOCK_N)
    d = tl.arange(0, BLOCK_D)
    row = (batch * S + m)[:, None] * D + d[None, :]
    row_ok = (m[:, None] < S) & (d[None, :] < D)
    q = tl.load(q_ptr + row, mask=row_ok, other=0)
    q_scale = tl.load(q_scale_ptr + batch * S + m, mask=m < S, other=0.0) * factor
    blocks = tl.cdiv(S, BLOCK_N)
    largest = tl.full((BLOCK_M,), float("-inf"), tl.float32)
    denominator = tl.zeros((BLOCK_M,), tl.float32)
    total = tl.zeros((BLOCK_M, BLOCK_D), tl.float32)
    for block in range(0, blocks):
        key = block * BLOCK_N + n
        at = batch * S + key
        k = tl.load(k_ptr + at[None, :] * D + d[:, None], mask=(key[None, :] < S) & (d[:, None] < D), other=0)
        k_scale = tl.load(k_scale_ptr + at, mask=key < S, other=0.0)
        score = tl.dot(q, k, out_dtype=tl.int32).to(tl.float32) * q_scale[:, None] * k_scale[None, :]
        score = tl.where(key[None, :] < S, score, float("-inf"))
        here = tl.max(score, axis=1)
        weight = tl.floor(tl.exp2(score - here[:, None]) * 127.0 + 0.5)
        v = tl.load(v_ptr + at[:, None] * D + d[None, :], mask=(key[:, None] < S) & (d[None, :] < D), other=0)
        v_scale = tl.load(v_scale_ptr + (batch * blocks + block) * D + d, mask=d < D, other=0.0)
        product = tl.dot(weight.to(tl.int8), v, out_dtype=tl.int32).to(tl.float32) * v_scale[None, :]
        larger = tl.maximum(largest, here)
        old, new = tl.exp2(largest - larger), tl.exp2(here - larger)
        denominator = denominator * old + tl.sum(weight, axis=1) * new
        total = total * old[:, None] + product * new[:, None]
        largest = larger
    tl.store(o_ptr + row, total / denominator[:, None], mask=row_ok)


def quantized(x, scale_shape, per_row, block_d):
    B, S, D = x.shape
    q = torch.empty((B, S, D), dtype=torch.int8, device=x.device)
    scale = torch.empty(scale_shape, dtype=torch.float32, device=x.device)
    quantize[(triton.cdiv(S, KEYS), B)](x, q, scale, S, D, *x.stride(),
                                        PER_ROW=per_row, BLOCK_S=KEYS, BLOCK_D=block_d)
    return q, scale


def attention_w8a8(query, key, value):
    B, S, D = query.shape
    output = torch.empty((B, S, D), dtype=query.dtype, device=query.device)
    if output.numel() == 0:
        return output
    block_d = max(32, triton.next_power_of_2(D))
    q, q_scale = quantized(query, (B, S), True, block_d)
    k, k_scale = quantized(key, (B, S), True, block_d)
    v, v_scale = quantized(value, (B, triton.cdiv(S, KEYS), D), False, block_d)
    block_m = 128 if block_d <= 64 else 64 if block_d <= 128 else 32
    factor = 1.4426950408889634 / D**0.5
    int8_attention[(triton.cdiv(S, block_m), B)](
        q, k, v, q_scale, k_scale, v_scale, output, S, D, factor,
        BLOCK_M=block_m, BLOCK_N=KEYS, BLOCK_D=block_d, num_warps=4, num_stages=2)
    return output
