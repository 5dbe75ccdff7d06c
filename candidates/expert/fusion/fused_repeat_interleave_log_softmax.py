"""log_softmax of repeated elements: x - log(sum(repeats * exp(x))), summed over what is there before repeating.

The tensor is seen as (outer, N, inner), the result as (outer, L, inner). A program takes a tile of slices: it goes
through them once for maximum and sum together, rescaling the sum when the maximum grows, and once to write, each place
of the result reading the element that it repeats. Where there are too few slices to fill a GPU, parts of them are
summed in a launch before, and each program merges these and writes a part.

For a vector of repeats, a scan finds where each element's repeats end, and a binary search what stands at each place.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def scan_kernel(repeats_ptr, end_ptr, N, stride, BLOCK: tl.constexpr):
    """end[i] is the number of repeats of the elements up to i, end[N] the least number of repeats of one."""
    before = tl.zeros((), tl.int64)
    least = tl.zeros((), tl.int64)
    for first in range(0, N, BLOCK):
        i = first + tl.arange(0, BLOCK)
        counts = tl.load(repeats_ptr + i * stride, mask=i < N, other=0)
        tl.store(end_ptr + i, before + tl.cumsum(counts, axis=0), mask=i < N)
        before += tl.sum(counts, axis=0)
        least = tl.minimum(least, tl.min(counts, axis=0))
    tl.store(end_ptr + N, least)


@triton.jit
def search_kernel(end_ptr, source_ptr, N, L, STEPS: tl.constexpr, BLOCK: tl.constexpr):
    """source[o] is the element at place o: the first whose repeats end after it."""
    o = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    low = tl.zeros((BLOCK,), tl.int64)
    high = tl.zeros((BLOCK,), tl.int64) + (N - 1)
    for _ in range(0, STEPS):
        middle = (low + high) // 2
        ended = tl.load(end_ptr + middle) <= o
        low = tl.where(ended, tl.minimum(middle + 1, N - 1), low)
        high = tl.where(ended, high, middle)
    tl.store(source_ptr + o, low, mask=o < L)


@triton.jit
def summed(
    x_ptr, base, inside, first, last, inner, repeats_ptr, stride, as_ptr,
    VECTOR: tl.constexpr, ACC: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """Maximum, and sum of repeats * exp(x - maximum), of the elements from first to last of each slice."""
    top = tl.full((ROWS,), -float("inf"), ACC)
    total = tl.zeros((ROWS,), ACC)
    for start in range(first, last, COLUMNS):
        i = start + tl.arange(0, COLUMNS)
        offsets = base[:, None] + i.to(tl.int64)[None, :] * inner
        x = tl.load(x_ptr + offsets, mask=inside[:, None] & (i < last)[None, :], other=-float("inf"))
        x = x.to(as_ptr.dtype.element_ty).to(ACC)
        if VECTOR:
            counts = tl.load(repeats_ptr + i.to(tl.int64) * stride, mask=i < last, other=0)[None, :].to(ACC)
            x = tl.where(counts > 0, x, -float("inf"))
        higher = tl.maximum(top, tl.max(x, axis=1))
        shift = tl.where(higher == -float("inf"), 0.0, higher)  # -inf - -inf would be NaN
        e = tl.exp(x - shift[:, None])
        if VECTOR:
            e = e * counts
        total = total * tl.exp(top - shift) + tl.sum(e, axis=1)
        top = higher
    return top, total


@triton.jit
def parts_kernel(
    x_ptr, top_ptr, total_ptr, repeats_ptr, as_ptr, slices, N, inner, stride, part,
    VECTOR: tl.constexpr, ACC: tl.constexpr, COUNT: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    base = row // inner * N * inner + row % inner
    first = tl.program_id(1).to(COUNT) * part
    last = tl.minimum(first + part, N).to(COUNT)
    top, total = summed(
        x_ptr, base, row < slices, first, last, inner, repeats_ptr, stride, as_ptr, VECTOR, ACC, ROWS, COLUMNS
    )
    target = tl.program_id(1).to(tl.int64) * slices + row
    tl.store(top_ptr + target, top, mask=row < slices)
    tl.store(total_ptr + target, total, mask=row < slices)


@triton.jit
def write_kernel(
    x_ptr, y_ptr, top_ptr, total_ptr, repeats_ptr, source_ptr, slices, N, L, inner, stride, parts, part, repeats,
    VECTOR: tl.constexpr, WHOLE: tl.constexpr, ACC: tl.constexpr, COUNT: tl.constexpr,
    ROWS: tl.constexpr, COLUMNS: tl.constexpr, WIDTH: tl.constexpr, PARTS: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    base = row // inner * N * inner + row % inner
    if WHOLE:
        zero = tl.full((), 0, COUNT)
        top, total = summed(
            x_ptr, base, row < slices, zero, N, inner, repeats_ptr, stride, y_ptr, VECTOR, ACC, ROWS, COLUMNS
        )
    else:
        tops = tl.full((ROWS, PARTS), -float("inf"), ACC)
        for first_part in range(0, parts, PARTS):
            p = (first_part + tl.arange(0, PARTS))[None, :]
            seen = (row < slices)[:, None] & (p < parts)
            tops = tl.maximum(tops, tl.load(top_ptr + p * slices + row[:, None], mask=seen, other=-float("inf")))
        top = tl.max(tops, axis=1)
        shift = tl.where(top == -float("inf"), 0.0, top)[:, None]
        totals = tl.zeros((ROWS, PARTS), ACC)
        for first_part in range(0, parts, PARTS):
            p = (first_part + tl.arange(0, PARTS))[None, :]
            seen = (row < slices)[:, None] & (p < parts)
            here = tl.load(top_ptr + p * slices + row[:, None], mask=seen, other=-float("inf"))
            totals += tl.load(total_ptr + p * slices + row[:, None], mask=seen, other=0.0) * tl.exp(here - shift)
        total = tl.sum(totals, axis=1)
    log_total = tl.log(total * repeats)
    y_base = row // inner * L * inner + row % inner
    first = tl.program_id(1).to(COUNT) * part
    last = tl.minimum(first + part, L).to(COUNT)
    for start in range(first, last, WIDTH):
        o = start + tl.arange(0, WIDTH)
        i = tl.load(source_ptr + o, mask=o < last, other=0) if VECTOR else (o // repeats).to(tl.int64)
        inside = (row < slices)[:, None] & (o < last)[None, :]
        x = tl.load(x_ptr + base[:, None] + i[None, :] * inner, mask=inside, other=0.0)
        y = x.to(y_ptr.dtype.element_ty).to(ACC) - top[:, None] - log_total[:, None]
        tl.store(y_ptr + y_base[:, None] + o.to(tl.int64)[None, :] * inner, y, mask=inside)


def ends_of(repeats, output_size):
    """Where each element's repeats end, and how many there are."""
    N = repeats.numel()
    ends = torch.empty(N + 1, dtype=torch.int64, device=repeats.device)
    scan_kernel[(1,)](repeats, ends, N, repeats.stride(0), BLOCK=min(triton.next_power_of_2(N), 4096), num_warps=8)
    if output_size is not None:
        return ends, output_size
    total, least = ends[-2:].tolist()
    if least < 0:
        raise RuntimeError(f"repeats must not be negative, and one is {least}")
    return ends, total


def places_of(repeats, N, output_size):
    """How often each element stands in the result, or the ends of their repeats; and the result's length."""
    if isinstance(repeats, torch.Tensor):
        if repeats.dim() == 1 and len(repeats) not in (1, N):
            raise RuntimeError(f"there are {len(repeats)} numbers of repeats for {N} elements")
        if repeats.dim() == 1 and N > 1 and len(repeats) == N:
            ends, L = ends_of(repeats, output_size)
            return 1, ends, L
        repeats = output_size // N if output_size is not None and N else int(repeats.item())
    if repeats < 0:
        raise RuntimeError(f"repeats must not be negative, but is {repeats}")
    return repeats, None, N * repeats


def fused_repeat_interleave_log_softmax(input, repeats, dim=None, *, output_size=None, dtype=None, out=None):
    x = (input.reshape(-1) if dim is None else input).contiguous()
    axis = 0 if dim is None else dim % x.dim()
    N, inner = x.shape[axis], x.shape[axis + 1 :].numel()
    times, ends, L = places_of(repeats, N, output_size)
    shape = [*x.shape[:axis], L, *x.shape[axis + 1 :]]
    dtype = dtype or x.dtype
    direct = out is not None and out.is_contiguous() and out.dtype == dtype
    y = out if direct else torch.empty(shape, dtype=dtype, device=x.device)
    if y.numel():
        vector = ends is not None
        source, stride = y, 0
        if vector:
            source, stride = torch.empty(L, dtype=torch.int64, device=x.device), repeats.stride(0)
            search_kernel[(triton.cdiv(L, 1024),)](ends, source, N, L, N.bit_length() + 1, 1024)
        slices = x.numel() // N
        acc, real = (tl.float64, torch.float64) if dtype == torch.float64 else (tl.float32, torch.float32)
        columns = min(triton.next_power_of_2(N), 4096 if inner == 1 else 64)
        rows = min(triton.next_power_of_2(slices), 4096 // columns)
        width = min(triton.next_power_of_2(L), 4096 // rows)
        programs = triton.cdiv(slices, rows)
        wanted = triton.cdiv(1024, programs)
        shared = dict(VECTOR=vector, ACC=acc, COUNT=tl.int32 if max(N, L) < 2**30 else tl.int64, num_warps=8)
        top, total, parts = y, y, min(triton.cdiv(N, 4 * columns), wanted)
        if parts > 1:
            part = triton.cdiv(triton.cdiv(N, parts), columns) * columns
            parts = triton.cdiv(N, part)
            top, total = (torch.empty((parts, slices), dtype=real, device=x.device) for _ in range(2))
            parts_kernel[(programs, parts)](
                x, top, total, repeats if vector else y, y, slices, N, inner, stride, part,
                ROWS=rows, COLUMNS=columns, **shared,
            )  # fmt: skip
        part = triton.cdiv(triton.cdiv(L, min(triton.cdiv(L, 4 * width), wanted)), width) * width
        write_kernel[(programs, triton.cdiv(L, part))](
            x, y, top, total, repeats if vector else y, source, slices, N, L, inner, stride, parts, part, times,
            WHOLE=parts == 1, ROWS=rows, COLUMNS=columns, WIDTH=width,
            PARTS=min(triton.next_power_of_2(parts), 4096 // rows), **shared,
        )  # fmt: skip
    return y if direct or out is None else out.copy_(y)
