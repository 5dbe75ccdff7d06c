"""Dropout of the log-softmax of a matrix times a vector, with one read of the matrix.

A program of the first launch multiplies a few rows and leaves, beside their elements, the largest and the sum of the
exponentials. Those of the second merge what all have left, which is short, and write a block each. The mask comes from
Philox, counted by the element and keyed by a seed from torch's generator.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def mv_kernel(
    a_ptr, x_ptr, z_ptr, top_ptr, total_ptr, N, K, a_n, a_k, x_k, ROWS: tl.constexpr, COLUMNS: tl.constexpr
):
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    products = tl.zeros((ROWS, COLUMNS), tl.float32)
    for start in range(0, K, COLUMNS):
        k = (start + tl.arange(0, COLUMNS)).to(tl.int64)
        inside = (row < N)[:, None] & (k < K)[None, :]
        a = tl.load(a_ptr + row[:, None] * a_n + k[None, :] * a_k, mask=inside, other=0.0).to(tl.float32)
        products += a * tl.load(x_ptr + k * x_k, mask=k < K, other=0.0).to(tl.float32)[None, :]
    z = tl.sum(products, axis=1)
    tl.store(z_ptr + row, z, mask=row < N)
    z = tl.where(row < N, z, -float("inf"))
    top = tl.max(z, axis=0)
    tl.store(top_ptr + tl.program_id(0), top)
    tl.store(total_ptr + tl.program_id(0), tl.sum(tl.exp(z - tl.where(top == -float("inf"), 0.0, top)), axis=0))


@triton.jit(do_not_specialize=["seed"])
def log_softmax_dropout_kernel(
    z_ptr, top_ptr, total_ptr, y_ptr, N, parts, p, scale, seed,
    DROPOUT: tl.constexpr, PARTS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    tops = tl.full((PARTS,), -float("inf"), tl.float32)
    for first in range(0, parts, PARTS):
        part = first + tl.arange(0, PARTS)
        tops = tl.maximum(tops, tl.load(top_ptr + part, mask=part < parts, other=-float("inf")))
    top = tl.max(tops, axis=0)
    totals = tl.zeros((PARTS,), tl.float32)
    for first in range(0, parts, PARTS):
        part = first + tl.arange(0, PARTS)
        part_top = tl.load(top_ptr + part, mask=part < parts, other=-float("inf"))
        totals += tl.load(total_ptr + part, mask=part < parts, other=0.0) * tl.exp(part_top - top)
    row = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    y = tl.load(z_ptr + row, mask=row < N) - top - tl.log(tl.sum(totals, axis=0))
    if DROPOUT:
        y = tl.where(tl.rand(seed, row) < p, 0.0, y * scale)
    tl.store(y_ptr + row, y.to(y_ptr.dtype.element_ty), mask=row < N)


def fused_mv_logsoftmax_dropout(input, vec, p=0.5, training=True, inplace=False, dim=0, *, out=None):
    if not 0.0 <= p <= 1.0:
        raise ValueError(f"the probability of being dropped must be between 0 and 1, not {p}")
    if dim not in (0, -1):
        raise IndexError(f"the product is a vector and has no dimension {dim}")
    N, K = input.shape
    if vec.shape != (K,):
        raise RuntimeError(f"cannot multiply a matrix {list(input.shape)} by a vector {list(vec.shape)}")
    direct = out is not None and out.is_contiguous()
    y = out if direct else torch.empty(N, dtype=input.dtype, device=input.device)
    if N:
        columns = min(triton.next_power_of_2(max(K, 1)), 512 if input.stride(1) == 1 else 32)
        rows = (2048 if N <= 4096 else 8192) // columns
        parts = triton.cdiv(N, rows)
        z = torch.empty(N, dtype=torch.float32, device=input.device)
        tops, totals = (torch.empty(parts, dtype=torch.float32, device=input.device) for _ in range(2))
        mv_kernel[(parts,)](
            input, vec, z, tops, totals, N, K, *input.stride(), vec.stride(0), rows, columns, num_warps=8
        )
        dropout = training and p > 0.0
        seed = int(torch.randint(2**31 - 1, ())) if dropout else 0
        log_softmax_dropout_kernel[(triton.cdiv(N, 1024),)](
            z, tops, totals, y, N, parts, float(p), 1.0 / (1.0 - p) if p < 1.0 else 0.0, seed,
            dropout, min(triton.next_power_of_2(parts), 2048), 1024,
        )  # fmt: skip
    return y if direct or out is None else out.copy_(y)
