"""Binomial samples for (input & other) * total_count trials, a program a block.

Where failures are rarer than successes they are counted instead, so p <= 1/2 below. Elements that expect fewer than 10
successes walk up their distribution from 0 until it exceeds a uniform number. The others are sampled by rejection from
a transformed uniform number (Hoermann, The generation of binomial random variates, 1993, algorithm BTRS); its test
compares logarithms of factorials by Stirling's formula, arranged here so that nothing large cancels. Uniform numbers
are from Philox, counted by the position and keyed by a seed from torch's generator plus the round.
"""

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def walk(u, n, p, active):
    """The first k whose cumulative probability exceeds u."""
    k = tl.zeros_like(n)
    probability = tl.exp(n * libdevice.log1p(-p))
    odds = p / (1.0 - p)
    active = active & (u >= probability)
    while tl.max(active.to(tl.int32), axis=0) > 0:
        u = tl.where(active, u - probability, u)
        probability *= (n - k) / (k + 1.0) * odds
        k = tl.where(active, k + 1.0, k)
        # Past the mean, where nothing is left but what rounding took from the sum, k stays.
        active = active & (u >= probability) & (k < n) & ((k < n * p) | (probability > 1e-9))
    return k


@triton.jit
def stirling(k):
    """log(k!) without its Stirling approximation, by the series in 1 / (k + 1)."""
    r = 1.0 / (k + 1.0)
    return (1.0 / 12 - r * r * (1.0 / 360 - r * r * (1.0 / 1260))) * r


@triton.jit
def reject(seed, offsets, n, p, active):
    k = tl.zeros_like(n)
    odds = p / (1.0 - p)
    spread = tl.sqrt(n * p * (1.0 - p))
    b = 1.15 + 2.53 * spread
    a = -0.0873 + 0.0248 * b + 0.01 * p
    alpha = (2.83 + 5.1 / b) * spread
    mode = tl.floor((n + 1.0) * p)
    while tl.max(active.to(tl.int32), axis=0) > 0:
        u, v, _, _ = tl.rand4x(seed, offsets)
        u -= 0.5
        us = 0.5 - tl.abs(u)
        new = tl.floor((2.0 * a / us + b) * u + n * p + 0.5)
        inside = (new >= 0) & (new <= n)
        safe = tl.where(inside, new, mode)
        step = safe - mode
        bound = (mode + 0.5) * libdevice.log1p(-step / (safe + 1.0))
        bound += (n - mode + 0.5) * libdevice.log1p(step / (n - safe + 1.0))
        bound += step * tl.log(odds * (n - safe + 1.0) / (safe + 1.0))
        bound += stirling(mode) + stirling(n - mode) - stirling(safe) - stirling(n - safe)
        sure = (us >= 0.07) & (v <= 0.92 - 4.2 / b)
        accepted = active & inside & (sure | (tl.log(v * alpha / (a / (us * us) + b)) <= bound))
        k = tl.where(accepted, safe, k)
        active = active & ~accepted
        seed += 1
    return k


@triton.jit(do_not_specialize=["seed"])
def binomial_kernel(
    x_ptr, other_ptr, count_ptr, p_ptr, y_ptr, size, seed, LOGITS: tl.constexpr, BLOCK: tl.constexpr
):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < size
    x = tl.load(x_ptr + offsets, mask=inside, other=0).to(tl.int32)
    other = tl.load(other_ptr + offsets, mask=inside, other=0).to(tl.int32)
    n = (x & other).to(tl.float32) * tl.load(count_ptr + offsets, mask=inside, other=0.0)
    p = tl.load(p_ptr + offsets, mask=inside, other=0.0)
    failing = p > 0 if LOGITS else p > 0.5
    p = 1.0 / (1.0 + tl.exp(tl.abs(p))) if LOGITS else tl.where(failing, 1.0 - p, p)
    few = n * p < 10
    k = walk(tl.rand(seed, offsets), n, p, few)
    k = tl.where(few, k, reject(seed + 1, offsets, n, p, ~few))
    tl.store(y_ptr + offsets, tl.where(failing, n - k, k), mask=inside)


def bitwise_and_binomial(input, other, total_count, probs=None, logits=None):
    if (probs is None) == (logits is None):
        raise ValueError("either probs or logits must be given, and not both")
    given = logits if probs is None else probs
    tensors = [t.expand(input.shape).contiguous() for t in (input, other, total_count, given)]
    y = torch.empty(input.shape, dtype=torch.float32, device=input.device)
    seed = int(torch.randint(2**31 - 1, ()))
    size = y.numel()
    if size:
        binomial_kernel[(triton.cdiv(size, 2048),)](
            *tensors, y, size, seed, logits is not None, BLOCK=2048, num_warps=16
        )
    return y
