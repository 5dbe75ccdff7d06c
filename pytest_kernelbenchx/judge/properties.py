"""Factorisations are judged by what defines them, not by signs, phases or the choice of a basis.

A residual is an error and what is allowed of it. The theory of backward errors gives the allowed one: a stable
algorithm on an n x n matrix computes the exact factors of a matrix that differs from the given one by a modest multiple
of n * eps * norm (Higham, Accuracy and Stability of Numerical Algorithms, chapters 9, 10 and 19); LAPACK's own tests
take 30 for the multiple, in the 1-norm. `GROWTH` is 10, in the Frobenius norm: the errors of Householder and Jacobi
methods in float32 stay below 1, a factor computed in TF32 or 16 bits is above it up to n = 256.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from pytest_kernelbenchx.judge.mismatch import wide
from pytest_kernelbenchx.judge.verdicts import Outcome, Verdict

GROWTH = 10.0


@dataclass(frozen=True)
class Residual:
    """An error, and what is allowed of it; NaN is never allowed."""

    label: str
    error: float
    allowed: float

    @property
    def holds(self) -> bool:
        return self.error <= self.allowed


def close(
    label: str,
    got: Tensor,
    want: Tensor,
    scale: Tensor | float | None = None,
    *,
    size: int = 0,
    dtype: torch.dtype | None = None,
    vector: bool = False,
) -> Residual:
    """`got` equals `want` up to GROWTH * size * eps * scale in the Frobenius norm of the last two axes.

    Args:
        got: [..., m, n].
        want: the same in float64 or complex128.
        scale: a norm of what it was computed from, one per batch element; by default the norm of `want`.
        size: the order of the problem; by default the longest of the axes.
        dtype: the type whose eps counts; by default that of `got`.
        vector: both are batches of vectors [..., n].
    """
    if got.shape != want.shape:
        return Residual(f"{label} (shape {list(got.shape)}, wanted {list(want.shape)})", math.inf, 0.0)
    axes = tuple(range(-min(1 if vector else 2, got.ndim), 0))
    error = _norm(wide(got) - want, axes)
    size = size or max([1, *(got.shape[axis] for axis in axes)])
    scale = _norm(wide(want), axes) if scale is None else torch.as_tensor(scale, dtype=torch.float64)
    return _worst(label, error, GROWTH * size * torch.finfo(dtype or got.dtype).eps * scale)


def orthonormal(label: str, q: Tensor, rows: bool = False) -> Residual:
    """The columns (or rows) of `q` [..., m, n] are orthonormal: |Q^H Q - 1| <= GROWTH * max(m, n) * eps * sqrt(n)."""
    exact = wide(q.mT if rows else q)
    product = exact.mH @ exact
    one = torch.eye(product.shape[-1], dtype=product.dtype).expand(product.shape)
    allowed = GROWTH * max(1, *q.shape[-2:]) * torch.finfo(q.dtype).eps * math.sqrt(max(1, product.shape[-1]))
    return _worst(label, _norm(product - one, (-2, -1)), torch.tensor(allowed, dtype=torch.float64))


def triangular(label: str, t: Tensor, upper: bool = True, unit: bool = False) -> Residual:
    """Nothing below (above) the diagonal, and ones on it if `unit`: exactly, since these are written, not computed."""
    exact = wide(t)
    rest = exact.tril(-1) if upper else exact.triu(1)
    error = _norm(rest, (-2, -1))
    if unit:
        error = error + (exact.diagonal(dim1=-2, dim2=-1) - 1).abs().sum(-1)
    return _worst(label, error, torch.zeros((), dtype=torch.float64))


def ordered(label: str, values: Tensor, descending: bool = True, nonnegative: bool = False) -> Residual:
    """`values` [..., n] never increase (decrease), and none is negative if that is wanted: exactly."""
    exact = values.to(torch.float64)
    steps = exact[..., 1:] - exact[..., :-1]
    rise = (steps if descending else -steps).clamp(min=0).sum(-1)
    if nonnegative:
        rise = rise + (-exact).clamp(min=0).sum(-1)
    rise = torch.where(torch.isfinite(exact).all(-1), rise, math.nan)
    return _worst(label, rise, torch.zeros((), dtype=torch.float64))


def judge_properties(residuals: Sequence[Residual]) -> Outcome:
    """`PASSED` if every residual holds, else `WRONG_VALUES` with those that do not, the worst first."""
    facts = {"residuals": {each.label: [each.error, each.allowed] for each in residuals}}
    bad = sorted((each for each in residuals if not each.holds), key=_excess, reverse=True)
    if not bad:
        return Outcome(Verdict.PASSED, facts=facts)
    lines = [f"{each.label}: error {each.error:.3g}, at most {each.allowed:.3g} is allowed" for each in bad]
    return Outcome(Verdict.WRONG_VALUES, lines[0], "\n".join(lines[1:]), facts)


def svd_properties(inputs: Mapping[str, Any], got: tuple[Tensor, Tensor, Tensor]) -> list[Residual]:
    """The residuals of a singular value decomposition A = U diag(S) Vh; flipped signs and rotated bases pass.

    Args:
        inputs: `A` [..., m, n] and `full_matrices` (default True).
        got: U [..., m, m or k], S [..., k], Vh [..., n or k, n], with k = min(m, n).
    """
    a = wide(inputs["A"])
    m, n = a.shape[-2:]
    k = min(m, n)
    full = bool(inputs.get("full_matrices", True))
    shapes = {"U": (m, m if full else k), "S": (k,), "Vh": (n if full else k, n)}
    for (name, shape), tensor in zip(shapes.items(), got, strict=True):
        if tuple(tensor.shape) != (*a.shape[:-2], *shape):
            return [Residual(f"shape of {name}: {list(tensor.shape)}, wanted {[*a.shape[:-2], *shape]}", math.inf, 0.0)]
    u, s, vh = got
    norm = _norm(a, (-2, -1))
    product = (wide(u)[..., :, :k] * wide(s)[..., None, :]) @ wide(vh)[..., :k, :]
    return [
        close("U diag(S) Vh = A", product, a, norm, dtype=u.dtype),
        close("singular values", s, torch.linalg.svdvals(a), norm, size=max(m, n), vector=True),
        ordered("singular values descend and are not negative", s, nonnegative=True),
        orthonormal("columns of U are orthonormal", u),
        orthonormal("rows of Vh are orthonormal", vh, rows=True),
    ]


def _excess(residual: Residual) -> float:
    if math.isnan(residual.error):
        return math.inf
    return residual.error / max(residual.allowed, torch.finfo(torch.float64).tiny)


def _worst(label: str, error: Tensor, allowed: Tensor) -> Residual:
    """The batch element that is worst against what is allowed of it."""
    error, allowed = torch.broadcast_tensors(error, allowed)
    if error.numel() == 0:
        return Residual(label, 0.0, 0.0)
    place = torch.where(torch.isnan(error), math.inf, error / (allowed + torch.finfo(torch.float64).tiny)).argmax()
    return Residual(label, float(error.flatten()[place]), float(allowed.flatten()[place]))


def _norm(values: Tensor, axes: tuple[int, ...]) -> Tensor:
    if values.numel() == 0:
        return torch.zeros(values.shape[: -len(axes)] if axes else (), dtype=torch.float64)
    return torch.linalg.vector_norm(values, dim=axes or None).to(torch.float64)
