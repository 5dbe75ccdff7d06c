"""Eigenvalues and eigenvectors of general matrices: the decomposition is PyTorch's, its eigenvectors are finished here.

Delegated, and why: the QR iteration for a matrix that isn't symmetric is a chain of some N^2 small rotations, each of
which needs the one before, with shifts and deflations that depend on the data. Methods that do much at once (Jacobi's
for general matrices, inverse iteration) fail for matrices with too few eigenvectors, of which the task has some. So
torch.linalg.eig does this part. The kernel brings the eigenvectors to length 1, with their largest element real and
positive: that makes them unique where eigenvalues are, whichever library found them.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def unit_kernel(
    v_ptr, out_ptr, N, v_matrix, v_row, v_column, v_part, TILES, BLOCK: tl.constexpr, COLUMNS: tl.constexpr
):
    """Some columns of one of the matrices out [matrices, N, N, 2], the last axis being real and imaginary parts."""
    matrix = (tl.program_id(0) // TILES).to(tl.int64)
    column = (tl.program_id(0) % TILES * COLUMNS + tl.arange(0, COLUMNS)).to(tl.int64)[None, :]
    row = tl.arange(0, BLOCK).to(tl.int64)[:, None]
    mask = (row < N) & (column < N)
    v_at = v_ptr + matrix * v_matrix + row * v_row + column * v_column
    re = tl.load(v_at, mask=mask, other=0.0)
    im = tl.load(v_at + v_part, mask=mask, other=0.0)
    square = re * re + im * im
    largest = tl.argmax(square, axis=0)[None, :]
    a = tl.sum(tl.where(row == largest, re, 0.0), axis=0)[None, :]
    b = tl.sum(tl.where(row == largest, im, 0.0), axis=0)[None, :]
    scale = tl.sqrt(tl.sum(square, axis=0)[None, :] * (a * a + b * b))
    scale = tl.where(scale > 0.0, scale, 1.0)
    out_at = out_ptr + ((matrix * N + row) * N + column) * 2
    tl.store(out_at, (re * a + im * b) / scale, mask=mask)
    tl.store(out_at + 1, (im * a - re * b) / scale, mask=mask)


def eig(A):
    if A.shape[-1] != A.shape[-2]:
        raise RuntimeError(f"A must be batches of square matrices, but is {list(A.shape)}")
    w, V = torch.linalg.eig(A)
    out = torch.empty(V.shape, dtype=V.dtype, device=V.device)
    if V.numel():
        N = V.shape[-1]
        v = torch.view_as_real(V.reshape(-1, N, N))
        block = triton.next_power_of_2(N)
        columns = max(1, min(block, 2048 // block))
        tiles = triton.cdiv(N, columns)
        unit_kernel[(v.shape[0] * tiles,)](
            v, torch.view_as_real(out), N, *v.stride(), tiles, BLOCK=block, COLUMNS=columns
        )
    return w, out
