"""QR, LU, LDL and eigenvalue decompositions, judged by what defines them; see `properties` for the errors allowed.

Signs, phases, the order of eigenvalues and the choice of pivots are the candidate's. Packed forms are unpacked first.
"""

import math
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from pytest_kernelbenchx.judge.mismatch import wide
from pytest_kernelbenchx.judge.properties import GROWTH, Residual, close, orthonormal, triangular

INDEPENDENT = 1e-6  # least singular value of eigenvectors from which they count as a basis


def qr_properties(inputs: Mapping[str, Any], got: tuple[Tensor, ...]) -> list[Residual]:
    """The residuals of A = Q R, with `inputs` A [..., M, N] and `mode`.

    In mode "r" there is no Q: R is right if A = Q R for some Q with orthonormal columns, that is if R^H R = A^H A. (The
    nearest Q itself, the polar factor of A R^H, is not known where singular values are below the root of the roundoff.)
    """
    a, (q, r) = wide(inputs["A"]), got
    found = [triangular("R is upper triangular", r)]
    if inputs["mode"] == "r":
        if not bool(torch.isfinite(r).all()):
            return [Residual("R is finite", math.nan, 0.0)]
        gram = close("R^H R = A^H A", wide(r).mH @ wide(r), a.mH @ a, size=max(a.shape[-2:]), dtype=r.dtype)
        return [*found, gram]
    found.append(orthonormal("columns of Q are orthonormal", q))
    return [*found, close("Q R = A", wide(q) @ wide(r), a, size=max(a.shape[-2:]), dtype=r.dtype)]


def lu_properties(inputs: Mapping[str, Any], got: tuple[Tensor, ...]) -> list[Residual]:
    """The residuals of A = P L U, with `inputs` A [..., M, N] and `pivot`; without pivots P is empty.

    Partial pivoting shows in L: no multiplier is larger than 1.
    """
    a, (p, low, up) = wide(inputs["A"]), got
    product = wide(low) @ wide(up)
    found = [
        triangular("L is lower triangular with ones on its diagonal", low, upper=False, unit=True),
        triangular("U is upper triangular", up),
    ]
    if inputs["pivot"]:
        product = wide(p) @ product
        excess = float((wide(low).abs() - 1).clamp(min=0).max()) if low.numel() else 0.0
        found += [
            _permutation("P is a permutation", p),
            Residual("multipliers of partial pivoting beyond 1", excess, GROWTH * torch.finfo(low.dtype).eps),
        ]
    return [*found, close("P L U = A", product, a, size=max(a.shape[-2:]), dtype=up.dtype)]


def _permutation(label: str, p: Tensor) -> Residual:
    """Zeros, and a single one in every row and column: exactly, since these are written, not computed."""
    exact = wide(p)
    wrong = (exact * (1 - exact)).abs().sum() + (exact.sum(-1) - 1).abs().sum() + (exact.sum(-2) - 1).abs().sum()
    return Residual(label, float(wrong), 0.0)


def eig_properties(inputs: Mapping[str, Any], got: tuple[Tensor, ...]) -> list[Residual]:
    """The residuals of A V = V diag(w), with `inputs` A [..., N, N] and `got` w [..., N] and V [..., N, N].

    Every pair (w, v) with a unit v and a small residual belongs to a matrix near A, however ill-conditioned w is. That
    they are all of them, as often as they should be, shows in the characteristic polynomial: with E = A - A' and X the
    inverse of z - A, to first order det(z - A') / det(z - A) = 1 + tr(X E). At |z| = 2 |A| the spectral norm of X is at
    most 1 / |A|, so that with |E| <= GROWTH * n * eps * |A| this differs from 1 by at most GROWTH * n * eps * sqrt(n).

    Where PyTorch finds a basis of eigenvectors in the same precision, V must be one.
    """
    a, w, v = wide(inputs["A"]).to(torch.complex128), wide(got[0]), wide(got[1])
    if not bool(torch.isfinite(w).all() and torch.isfinite(v).all()):
        return [Residual("eigenvalues and eigenvectors are finite", math.nan, 0.0)]
    n, eps = a.shape[-1], torch.finfo(got[1].dtype).eps
    norm = torch.linalg.matrix_norm(a)
    length = torch.linalg.vector_norm(v, dim=-2)
    return [
        close("A V = V diag(w)", a @ v, v * w.unsqueeze(-2), norm, size=n, dtype=got[1].dtype),
        close("columns of V have norm 1", length, torch.ones_like(length), 1.0, dtype=got[1].dtype, vector=True),
        Residual("eigenvalues as a set", _spectra_apart(a, w, norm), GROWTH * n * eps * math.sqrt(n)),
        _independent(inputs["A"], v, math.sqrt(eps)),
    ]


def _spectra_apart(a: Tensor, w: Tensor, norm: Tensor) -> float:
    """How far the characteristic polynomial with the roots `w` is from that of `a`, relatively, around its spectrum."""
    n = a.shape[-1]
    angles = torch.arange(n + 1, dtype=torch.float64) * (2 * math.pi / (n + 1))
    z = 2 * torch.where(norm > 0, norm, 1.0)[..., None, None] * torch.exp(1j * angles)[:, None]
    exact = torch.linalg.eigvals(a)
    ratio = (torch.log(1 - w.unsqueeze(-2) / z) - torch.log(1 - exact.unsqueeze(-2) / z)).sum(-1)
    return float((torch.exp(ratio) - 1).abs().max()) if ratio.numel() else 0.0


def _independent(a: Tensor, v: Tensor, share: float) -> Residual:
    """Columns of `v` may be nearer to dependence than PyTorch's, but must span the space where these do."""
    own = torch.linalg.svdvals(torch.linalg.eig(a).eigenvectors)[..., -1].to(torch.float64)
    ratio = torch.where(own > INDEPENDENT, own / torch.linalg.svdvals(v)[..., -1], 0.0)
    return Residual("condition of V against PyTorch's", float(ratio.max()) if ratio.numel() else 0.0, 1 / share)


def ldl_properties(inputs: Mapping[str, Any], got: tuple[Tensor, ...]) -> list[Residual]:
    """The residual of A = (P L) D (P L)^T, or (P L)^H if `hermitian`, in LAPACK's packed form (?sytrf, ?hetrf).

    Args:
        inputs: `A` [..., N, N], and `hermitian`.
        got: LD [..., N, N], of which the lower triangle counts, and the pivots [..., N].
    """
    a, ld, pivots = wide(inputs["A"]), wide(got[0]), got[1]
    n = a.shape[-1]
    if not all(_valid(each) for each in pivots.reshape(-1, n).tolist()):
        return [Residual("pivots that are no exchanges of rows", math.inf, 0.0)]
    pairs = zip(ld.reshape(-1, n, n), pivots.reshape(-1, n).tolist(), strict=True)
    products = [_unpacked(each, rows, bool(inputs["hermitian"])) for each, rows in pairs]
    product = torch.stack(products).reshape(a.shape) if products else a
    return [close("P L D (P L)' = A", product, a, dtype=got[0].dtype)]


def _valid(pivots: list[int]) -> bool:
    """Whether each is the number, from 1, of this row or a later one; twice the same negative one for 2 x 2 blocks."""
    k, n = 0, len(pivots)
    while k < n:
        wide_block = pivots[k] < 0
        if wide_block and (k + 1 == n or pivots[k + 1] != pivots[k]):
            return False
        k += 1 + wide_block
        if not k <= abs(pivots[k - 1]) <= n:
            return False
    return True


def _unpacked(ld: Tensor, pivots: list[int], hermitian: bool) -> Tensor:
    """The matrix that LD and pivots stand for: exchanges made after a column of L was stored apply to it as well."""
    n, k = len(pivots), 0
    low, blocks, order = ld.tril(-1), torch.diag(ld.diagonal()), list(range(n))
    exchanges = []
    while k < n:
        if pivots[k] < 0:
            low[k + 1, k] = 0
            blocks[k + 1, k] = ld[k + 1, k]
            blocks[k, k + 1] = ld[k + 1, k].conj() if hermitian else ld[k + 1, k]
        row, other = k + (pivots[k] < 0), abs(pivots[k]) - 1
        low[[row, other], :k] = low[[other, row], :k]
        exchanges.append((row, other))
        k = row + 1
    for row, other in reversed(exchanges):
        order[row], order[other] = order[other], order[row]
    factor = (low + torch.eye(n, dtype=ld.dtype))[order]
    return factor @ blocks @ (factor.mH if hermitian else factor.mT)
