"""Distances between normalised vectors, from their differences: no product of matrices is precise for close ones.

The first kernel normalises and turns both sets to [D, N] and [D, M], so that the second, which holds a tile of pairs in
registers and walks through the coordinates, reads neighbours. Norms other than the sum, the Euclidean and the largest
are taken of |x| over the largest |x|, whose powers neither overflow nor vanish all.
"""

import math

import torch
import triton
import triton.language as tl


@triton.jit
def power(x, p, KIND: tl.constexpr):
    """x ** p of numbers from 0 to 1, or x itself or its square, whose sums have no trouble with the range."""
    if KIND == "2":
        y = x * x
    elif KIND == "p":
        y = tl.exp2(p * tl.log2(x))
    else:
        y = x
    return y


@triton.jit
def root(x, p, KIND: tl.constexpr):
    if KIND == "2":
        y = tl.sqrt(x)
    elif KIND == "p":
        y = tl.exp2(tl.log2(x) / p)
    else:
        y = x
    return y


@triton.jit
def normalize_kernel(
    x_ptr, u_ptr, N, D, x_n, x_d, p, eps, KIND: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr
):
    row = (tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS))[:, None]
    top = tl.zeros((ROWS,), tl.float32)
    for start in range(0, D, COLUMNS):
        d = (start + tl.arange(0, COLUMNS)).to(tl.int64)[None, :]
        x = tl.load(x_ptr + row * x_n + d * x_d, mask=(row < N) & (d < D), other=0.0)
        top = tl.maximum(top, tl.max(tl.abs(x), axis=1))
    norm = top
    if KIND != "inf":
        divisor = tl.where(top > 0.0, top, 1.0)[:, None]
        total = tl.zeros((ROWS,), tl.float32)
        for start in range(0, D, COLUMNS):
            d = (start + tl.arange(0, COLUMNS)).to(tl.int64)[None, :]
            x = tl.load(x_ptr + row * x_n + d * x_d, mask=(row < N) & (d < D), other=0.0)
            total += tl.sum(power(tl.abs(x) / divisor, p, KIND), axis=1)
        norm = top * root(total, p, KIND)
    norm = tl.maximum(norm, eps)[:, None]
    for start in range(0, D, COLUMNS):
        d = (start + tl.arange(0, COLUMNS)).to(tl.int64)[None, :]
        x = tl.load(x_ptr + row * x_n + d * x_d, mask=(row < N) & (d < D), other=0.0)
        tl.store(u_ptr + d * N + row, x / norm, mask=(row < N) & (d < D))


@triton.jit
def distance_kernel(u_ptr, v_ptr, y_ptr, N, M, D, p, eps, KIND: tl.constexpr, BN: tl.constexpr, BM: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BN + tl.arange(0, BN)
    j = tl.program_id(1).to(tl.int64) * BM + tl.arange(0, BM)
    u_ptrs = u_ptr + i
    v_ptrs = v_ptr + j
    total = tl.zeros((BN, BM), tl.float32)
    if KIND == "inf" or KIND == "p":
        for _ in range(0, D):
            u = tl.load(u_ptrs, mask=i < N, other=0.0)
            v = tl.load(v_ptrs, mask=j < M, other=0.0)
            total = tl.maximum(total, tl.abs(u[:, None] - v[None, :]))
            u_ptrs += N
            v_ptrs += M
    if KIND == "p":
        top = total
        divisor = tl.where(top > 0.0, top, 1.0)
        total = tl.zeros((BN, BM), tl.float32)
        u_ptrs = u_ptr + i
        v_ptrs = v_ptr + j
    if KIND != "inf":
        for _ in range(0, D):
            u = tl.load(u_ptrs, mask=i < N, other=0.0)
            v = tl.load(v_ptrs, mask=j < M, other=0.0)
            difference = tl.abs(u[:, None] - v[None, :])
            if KIND == "p":
                difference = difference / divisor
            total += power(difference, p, KIND)
            u_ptrs += N
            v_ptrs += M
        total = root(total, p, KIND)
    if KIND == "p":
        total = top * total
    y = tl.maximum(total, eps)
    tl.store(y_ptr + i[:, None] * M + j[None, :], y, mask=(i < N)[:, None] & (j < M)[None, :])


def fused_pairwise_distance_normalize(x1, x2, p_norm=2.0, eps_norm=1e-12, eps_distance=1e-6, keepdim=False):
    (N, D), M = x1.shape, x2.shape[0]
    y = torch.empty((N, M), dtype=x1.dtype, device=x1.device)
    if y.numel():
        p = float(p_norm)
        kind = "inf" if math.isinf(p) else str(int(p)) if p in (1.0, 2.0) else "p"
        p = 1.0 if math.isinf(p) else p
        columns = min(triton.next_power_of_2(max(D, 1)), 2048)
        turned = []
        for x, count in ((x1, N), (x2, M)):
            turned.append(torch.empty((D, count), dtype=torch.float32, device=x.device))
            rows = min(triton.next_power_of_2(count), max(1, 4096 // columns))
            normalize_kernel[(triton.cdiv(count, rows),)](
                x, turned[-1], count, D, *x.stride(), p, float(eps_norm), kind, rows, columns, num_warps=8
            )
        distance_kernel[(triton.cdiv(N, 64), triton.cdiv(M, 64))](
            *turned, y, N, M, D, p, float(eps_distance), kind, BN=64, BM=64, num_warps=4
        )
    return y.unsqueeze(-1) if keepdim else y
