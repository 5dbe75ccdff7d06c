"""Attention without the matrix of weights: blocks of keys are met one after the other, the softmax running along.

A program holds a block of queries of one head. When a larger score is met, the sums so far are scaled down. Blocks in
which all queries see all keys come first, without a mask; with `causal` those beyond the diagonal are left out.
Exponentials are powers of two, with log2(e) in the scale. float32 is multiplied in three TF32 products, as exact as
float32, unless heads are so wide that their parts don't fit the registers.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def over_keys(
    q, k_ptrs, v_ptrs, top, weights, total, m, first, last, L, D, scale, k_l, v_l,
    CAUSAL: tl.constexpr, MASKED: tl.constexpr, BN: tl.constexpr, BD: tl.constexpr, FULL: tl.constexpr,
):  # fmt: skip
    """Largest score, sum of weights and weighted sum of v, after the keys from `first` to `last`."""
    PRECISION: tl.constexpr = "tf32x3" if BD <= 64 else "ieee"
    d = tl.arange(0, BD)
    k_ptrs += first.to(tl.int64) * k_l
    v_ptrs += first.to(tl.int64) * v_l
    for start in range(first, last, BN):
        n = start + tl.arange(0, BN)
        if MASKED:
            k = tl.load(k_ptrs, mask=(d < D)[:, None] & (n < L)[None, :], other=0.0)
        elif FULL:
            k = tl.load(k_ptrs)
        else:
            k = tl.load(k_ptrs, mask=(d < D)[:, None], other=0.0)
        score = tl.dot(q, k, input_precision=PRECISION)
        if MASKED:
            seen = (n < L)[None, :]
            if CAUSAL:
                seen = seen & (n[None, :] <= m[:, None])
            score = tl.where(seen, score, -1e38)  # which times a scale of 0 is a number
        higher = tl.maximum(top, tl.max(score, axis=1) * scale)
        weight = tl.exp2(score * scale - higher[:, None])
        if MASKED:
            weight = tl.where(seen, weight, 0.0)
        shrink = tl.exp2(top - higher)
        weights = weights * shrink + tl.sum(weight, axis=1)
        if MASKED:
            v = tl.load(v_ptrs, mask=(n < L)[:, None] & (d < D)[None, :], other=0.0)
        elif FULL:
            v = tl.load(v_ptrs)
        else:
            v = tl.load(v_ptrs, mask=(d < D)[None, :], other=0.0)
        total = tl.dot(weight.to(v.dtype), v, total * shrink[:, None], input_precision=PRECISION)
        top = higher
        k_ptrs += BN * k_l
        v_ptrs += BN * v_l
    return top, weights, total


@triton.jit(do_not_specialize=["L"])
def attention_kernel(
    q_ptr, k_ptr, v_ptr, y_ptr, H, L, D, scale, q_b, q_h, q_l, q_d, k_b, k_h, k_l, k_d, v_b, v_h, v_l, v_d,
    y_b, y_h, y_l, y_d, NEGATIVE: tl.constexpr, CAUSAL: tl.constexpr,
    BM: tl.constexpr, BN: tl.constexpr, BD: tl.constexpr, FULL: tl.constexpr,
):  # fmt: skip
    # The last queries see most keys and go first.
    block = tl.num_programs(0) - 1 - tl.program_id(0)
    b, h = (tl.program_id(1) // H).to(tl.int64), (tl.program_id(1) % H).to(tl.int64)
    m = block * BM + tl.arange(0, BM)
    n, d = tl.arange(0, BN), tl.arange(0, BD)
    inside = (m < L)[:, None] & (d < D)[None, :]
    q_ptrs = q_ptr + b * q_b + h * q_h + m[:, None].to(tl.int64) * q_l + d[None, :] * q_d
    k_ptrs = k_ptr + b * k_b + h * k_h + n[None, :] * k_l + d[:, None] * k_d
    v_ptrs = v_ptr + b * v_b + h * v_h + n[:, None] * v_l + d[None, :] * v_d
    q = tl.load(q_ptrs, mask=inside, other=0.0)
    if NEGATIVE:  # the scale is positive
        q = -q
    top = tl.full((BM,), -float("inf"), tl.float32)
    weights = tl.zeros((BM,), tl.float32)
    total = tl.zeros((BM, BD), tl.float32)
    last = tl.minimum(L, (block + 1) * BM) if CAUSAL else L
    whole = (tl.minimum(L, block * BM) if CAUSAL else L) // BN * BN
    top, weights, total = over_keys(
        q, k_ptrs, v_ptrs, top, weights, total, m, whole * 0, whole, L, D, scale, k_l, v_l,
        CAUSAL, False, BN, BD, FULL,
    )  # fmt: skip
    top, weights, total = over_keys(
        q, k_ptrs, v_ptrs, top, weights, total, m, whole, last, L, D, scale, k_l, v_l, CAUSAL, True, BN, BD, FULL
    )
    y = (total / weights[:, None]).to(y_ptr.dtype.element_ty)
    y_ptrs = y_ptr + b * y_b + h * y_h + m[:, None].to(tl.int64) * y_l + d[None, :] * y_d
    tl.store(y_ptrs, y, mask=inside)


def attention(q, k, v, causal: bool = False, softmax_scale=None, *, out=None):
    B, H, L, D = q.shape
    y = torch.empty((B, H, L, D), dtype=q.dtype, device=q.device) if out is None else out
    if y.numel():
        scale = D**-0.5 if softmax_scale is None else float(softmax_scale)
        BD = max(16, triton.next_power_of_2(D))
        if q.dtype == torch.float32:
            BM, BN = (128, 32) if BD <= 64 else (32, 16)
        else:
            BM, BN = (128, 64) if BD <= 128 else (64, 32)
        if L <= 64:
            BM = min(BM, 64)
        attention_kernel[(triton.cdiv(L, BM), B * H)](
            q, k, v, y, H, L, D, abs(scale) * 1.4426950408889634, *q.stride(), *k.stride(), *v.stride(), *y.stride(),
            scale < 0.0, bool(causal), BM, BN, BD, BD == D, num_warps=8, num_stages=3,
        )  # fmt: skip
    return y
