"""Cholesky factor by panels of 32 columns: w holds what is left of A, l the result.

Every program of a panel factorises the panel's block on the diagonal once more, and divides some of the rows below by
it as it goes; then the lower half of w loses the product of the panel and its conjugate. Small matrices are one block,
and several of them share a program. A complex matrix is one of pairs of real numbers, with strides to match; the upper
factor is the lower one with exchanged strides, conjugate.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def column(a, a_imag, here, IS_COMPLEX: tl.constexpr):
    x = tl.sum(tl.where(here, a, 0.0), axis=2)
    x_imag = x
    if IS_COMPLEX:
        x_imag = tl.sum(tl.where(here, a_imag, 0.0), axis=2)
    return x, x_imag


@triton.jit
def eliminated(a, a_imag, here, x, x_imag, y, y_imag, IS_COMPLEX: tl.constexpr):
    """a, less x times the conjugate of the row y, and with x for its column `here`."""
    x, y = x[:, :, None], y[:, None, :]
    less = x * y
    if IS_COMPLEX:
        x_imag, y_imag = x_imag[:, :, None], y_imag[:, None, :]
        less += x_imag * y_imag
        a_imag = tl.where(here, x_imag, a_imag - (x_imag * y - x * y_imag))
    return tl.where(here, x, a - less), a_imag


@triton.jit(do_not_specialize=["k"])
def panel_kernel(w_ptr, l_ptr, failed_ptr, MATRICES, N, k, w_batch, w_row, w_col, l_batch, l_row, l_col, sign,
                 IS_COMPLEX: tl.constexpr, BELOW: tl.constexpr,
                 GROUP: tl.constexpr, BLOCK: tl.constexpr, ROWS: tl.constexpr):
    """Columns k to k + BLOCK of l: the block on the diagonal, by the first program, and if BELOW, ROWS rows below."""
    matrix = tl.program_id(0).to(tl.int64) * GROUP + tl.arange(0, GROUP)[:, None, None]
    row = tl.arange(0, BLOCK)[None, :]
    i, j = row[:, :, None], row[:, None, :]
    there = (matrix < MATRICES) & (k + j < N)
    on_top = there & (k + i < N)
    w_ptr += matrix * w_batch + (k + j).to(tl.int64) * w_col
    l_ptr += matrix * l_batch + (k + j).to(tl.int64) * l_col
    top = tl.load(w_ptr + (k + i).to(tl.int64) * w_row, mask=on_top & (i >= j), other=0.0)
    top_imag = top
    if IS_COMPLEX:
        top_imag = tl.load(w_ptr + (k + i).to(tl.int64) * w_row + 1, mask=on_top & (i > j), other=0.0)
    if BELOW:
        r = (k + BLOCK + tl.program_id(1) * ROWS + tl.arange(0, ROWS)[None, :, None]).to(tl.int64)
        low = tl.load(w_ptr + r * w_row, mask=there & (r < N), other=0.0)
        low_imag = low
        if IS_COMPLEX:
            low_imag = tl.load(w_ptr + r * w_row + 1, mask=there & (r < N), other=0.0)
    bad = tl.zeros((GROUP, 1), tl.int32)
    for c in range(0, tl.minimum(BLOCK, N - k)):
        here = j == c
        x, x_imag = column(top, top_imag, here, IS_COMPLEX)
        pivot = tl.sum(tl.where(row == c, x, 0.0), axis=1)[:, None]
        bad += tl.where(pivot > 0.0, 0, 1)
        root = tl.sqrt(tl.where(pivot > 0.0, pivot, 1.0))
        x = tl.where(row >= c, x / root, 0.0)
        x_imag = tl.where(row > c, x_imag / root, 0.0)
        y, y_imag = tl.where(row > c, x, 0.0), x_imag
        top, top_imag = eliminated(top, top_imag, here, x, x_imag, y, y_imag, IS_COMPLEX)
        if BELOW:
            x, x_imag = column(low, low_imag, here, IS_COMPLEX)
            low, low_imag = eliminated(low, low_imag, here, x / root, x_imag / root, y, y_imag, IS_COMPLEX)
    first = tl.program_id(1) == 0
    top_ptr = l_ptr + (k + i).to(tl.int64) * l_row
    tl.store(top_ptr, tl.where(i >= j, top, 0.0), mask=on_top & first)
    if IS_COMPLEX:
        tl.store(top_ptr + 1, tl.where(i > j, top_imag * sign, 0.0), mask=on_top & first)
    if BELOW:
        tl.store(l_ptr + r * l_row, low, mask=there & (r < N))
        if IS_COMPLEX:
            tl.store(l_ptr + r * l_row + 1, low_imag * sign, mask=there & (r < N))
    matrix = tl.program_id(0).to(tl.int64) * GROUP + tl.arange(0, GROUP)[:, None]
    tl.store(failed_ptr + matrix * tl.cdiv(N, BLOCK) + k // BLOCK, bad, mask=(matrix < MATRICES) & first)


@triton.jit(do_not_specialize=["k"])
def update_kernel(w_ptr, l_ptr, N, k, w_batch, w_row, w_col, l_batch, l_row, l_col, sign,
                  IS_COMPLEX: tl.constexpr, BLOCK: tl.constexpr, TILE: tl.constexpr):
    """A tile of the lower half of w beyond a panel, less the panel's rows times the conjugate of its rows."""
    if tl.program_id(1) >= tl.program_id(2):
        matrix = tl.program_id(0).to(tl.int64)
        r = (k + BLOCK + tl.program_id(1) * TILE + tl.arange(0, TILE)).to(tl.int64)
        c = (k + BLOCK + tl.program_id(2) * TILE + tl.arange(0, TILE)).to(tl.int64)
        p = (k + tl.arange(0, BLOCK)).to(tl.int64)
        left_ptr = l_ptr + matrix * l_batch + r[:, None] * l_row + p[None, :] * l_col
        right_ptr = l_ptr + matrix * l_batch + p[:, None] * l_col + c[None, :] * l_row
        at_ptr = w_ptr + matrix * w_batch + r[:, None] * w_row + c[None, :] * w_col
        mask = (r < N)[:, None] & (c < N)[None, :]
        x = tl.load(left_ptr, mask=(r < N)[:, None], other=0.0)
        y = tl.load(right_ptr, mask=(c < N)[None, :], other=0.0)
        w = tl.load(at_ptr, mask=mask, other=0.0)
        if IS_COMPLEX:
            x_imag = tl.load(left_ptr + 1, mask=(r < N)[:, None], other=0.0) * sign
            y_imag = tl.load(right_ptr + 1, mask=(c < N)[None, :], other=0.0) * sign
            w -= tl.dot(x_imag, y_imag, input_precision="ieee", out_dtype=w.dtype)
            w_imag = tl.load(at_ptr + 1, mask=mask, other=0.0)
            w_imag -= tl.dot(x_imag, y, input_precision="ieee", out_dtype=w.dtype)
            w_imag += tl.dot(x, y_imag, input_precision="ieee", out_dtype=w.dtype)
            tl.store(at_ptr + 1, w_imag, mask=mask)
        tl.store(at_ptr, w - tl.dot(x, y, input_precision="ieee", out_dtype=w.dtype), mask=mask)


def factorise(w, w_strides, lower, l_strides, failed, N, block, sign, complex_):
    """`lower` from `w`, which is overwritten unless N <= block; strides of a matrix, a row and a column."""
    matrices = failed.shape[0]
    tile = 32 if complex_ else 64
    for k in range(0, N, block):
        below = N - k - block
        group = max(1, min(triton.next_power_of_2(matrices), (4096 if matrices <= 64 else 1024) // (block * block)))
        panel_kernel[(triton.cdiv(matrices, group), max(1, triton.cdiv(below, tile)))](
            w, lower, failed, matrices, N, k, *w_strides, *l_strides, sign, IS_COMPLEX=complex_, BELOW=below > 0,
            GROUP=group, BLOCK=block, ROWS=tile, num_warps=4 if below > 0 else max(1, group * block * block // 1024))
        if below > 0:
            tiles = triton.cdiv(below, tile)
            update_kernel[(matrices, tiles, tiles)](
                w, lower, N, k, *w_strides, *l_strides, sign, IS_COMPLEX=complex_, BLOCK=block, TILE=tile, num_warps=8)


def reals(x):
    """A tensor [matrices, N, N] as one of real numbers, and the strides of a matrix, a row and a column."""
    if not x.is_complex():
        return x, x.stride()
    pairs = torch.view_as_real(x)
    return pairs, pairs.stride()[:3]


def cholesky(A, upper=False, out=None):
    if A.dim() < 2 or A.shape[-1] != A.shape[-2]:
        raise RuntimeError(f"A must be batches of square matrices, but is {list(A.shape)}")
    N = A.shape[-1]
    result = torch.zeros(A.shape, dtype=A.dtype, device=A.device)
    if A.numel():
        block = max(16, min(32, triton.next_power_of_2(N)))
        small = block >= N
        a = A if small else torch.empty(A.shape, dtype=A.dtype, device=A.device).copy_(A)
        w, w_strides = reals(a.resolve_conj().reshape(-1, N, N))
        lower, l_strides = reals(result.view(-1, N, N))
        if upper:
            l_strides = (l_strides[0], l_strides[2], l_strides[1])
        failed = torch.empty((w.shape[0], triton.cdiv(N, block)), dtype=torch.int32, device=A.device)
        factorise(w, w_strides, lower, l_strides, failed, N, block, -1 if upper else 1, A.is_complex())
        if failed.any():
            raise torch.linalg.LinAlgError("the input is not positive-definite")
    return result if out is None else out.copy_(result)
