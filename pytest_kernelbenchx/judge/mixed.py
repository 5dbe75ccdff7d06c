"""Dropout whose output is mixed by a matrix product: y = (x * mask / (1 - p)) @ w, so that no element shows its mask.

Two ways to judge it, each where it says something; every bound has an error probability of at most `RISK`.

* Where w [K, N] has rank K, y w^+ is the tensor that was multiplied: its elements are kept or dropped, and
  `judge_mask` judges them as it does any dropout. What rounding may do to them follows from the allowed error of y, the
  rows of w^+ and nothing else; where that is too much for telling kept from dropped an element says nothing.
* Else, by what is known of g = y w^+ - x w w^+, whose elements are sums of x_k (mask_k / (1 - p) - 1) with known
  weights, independent from row to row:
  the mean, that the share of kept elements shifts (Hoeffding's bound for a sum of bounded independent terms);
  a spread too small, as without dropout (for independent X >= 0, P(sum X <= E - t) <= exp(-t^2 / (2 sum E X^2)): Maurer
  2003, A bound on the deviation probability for sums of non-negative random variables);
  a spread too large (Hoeffding's lemma makes a row subgaussian; Laurent and Massart, Adaptive estimation of a quadratic
  functional, 2000, lemma 1, bounds a sum of squares of such).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import torch
from torch import Tensor

from pytest_kernelbenchx.judge.chance import RISK
from pytest_kernelbenchx.judge.mismatch import wide
from pytest_kernelbenchx.judge.randomized import Dropout, judge_certain, judge_mask
from pytest_kernelbenchx.judge.tolerance import DEFAULT, Tolerance
from pytest_kernelbenchx.judge.verdicts import Outcome, Verdict

ROUNDING = 2e-5  # of a sum of products in float32, as a share of the sum of their sizes: K * u at K = 350
CUTOFF = 1e-3  # singular values of w below this share of the largest are left out of the statistics
NOTHING = Outcome(Verdict.PASSED)


@dataclass(frozen=True)
class MixedDropout(Dropout):
    """Dropout followed by a matrix product.

    Args:
        parts: gives x [..., M, K] and w [..., K, N] of y = dropout(x) @ w, from the arguments that it names.
    """

    parts: Callable[..., tuple[Tensor, Tensor]] = field(kw_only=True)


def judge_mixed(
    got: Tensor,
    x: Tensor,
    w: Tensor,
    p: float,
    *,
    second: Tensor | None = None,
    eager: Tensor | None = None,
    noise: Tensor | None = None,
    tolerance: Tolerance = DEFAULT,
    name: str = "output",
) -> Outcome:
    """`PASSED` or `WRONG_VALUES`.

    Args:
        got: [..., M, N], the output, in its own type; its form was checked.
        x, w: [..., M, K] and [..., K, N] in float64.
        p: the probability in force: 0 when not training.
        second: the output of the same call under another seed.
        eager, noise: as `compare` takes them, for p = 0.
    """
    if p in (0, 1):
        truth = x @ w * (1 - p)
        return judge_certain(got, truth, p, eager=eager, noise=noise, tolerance=tolerance, name=name)
    if got.numel() == 0 or x.numel() == 0:
        return NOTHING
    if not bool(torch.isfinite(got).all()):
        return Outcome(Verdict.WRONG_VALUES, f"{name}: not every element is finite")
    error = ROUNDING / (1 - p) * (x.abs() @ w.abs() + x.abs().amax() / 8 * w.abs().sum(-2, keepdim=True))
    y, again = wide(got), None if second is None else wide(second)
    outcome = _recovered(y, again, x, w, p, error, name)
    if not outcome.passed:
        return outcome
    reason = _far(y, x, w, p, error) or _spread(y, x, w, p, error)
    if not reason and again is not None and _same(y, again, x, w, p, error):
        reason = "another seed gives the same result"
    return Outcome(Verdict.WRONG_VALUES, f"{name}: {reason}") if reason else outcome


def _recovered(y: Tensor, second: Tensor | None, x: Tensor, w: Tensor, p: float, error: Tensor, name: str) -> Outcome:
    """Undo the product where that is possible, judge the mask, and what the product makes of it."""
    if w.shape[-1] < w.shape[-2]:
        return NOTHING
    inverse, kept, nothing = torch.linalg.pinv(w), x / (1 - p), torch.zeros_like(x)
    blur = torch.linalg.vector_norm(error, dim=-1, keepdim=True) * torch.linalg.vector_norm(inverse, dim=-2).unsqueeze(
        -2
    )
    blur = torch.where((torch.linalg.matrix_rank(w) == w.shape[-2])[..., None, None], blur, math.inf)

    def states(y: Tensor) -> tuple[Tensor, Tensor]:
        before = y @ inverse
        is_kept, is_dropped = (before - kept).abs() <= blur, before.abs() <= blur
        both = (is_kept | is_dropped) & (kept.abs() <= 2 * blur)
        return is_kept | both, is_dropped | both

    is_kept, is_dropped = found = states(y)
    again = None if second is None else states(second)
    outcome = judge_mask(y @ inverse, kept, nothing, p, found, second=again, name=name)
    unclear = is_kept & is_dropped
    product = torch.where(unclear, y @ inverse, torch.where(is_kept, kept, nothing)) @ w
    beside = (y - product).abs() > error + torch.where(unclear, blur, nothing) @ w.abs()
    if outcome.passed and bool(beside.any()):
        reason = f"{name}: {int(beside.sum())} of {y.numel()} elements do not fit the mask that the others show"
        return Outcome(Verdict.WRONG_VALUES, reason)
    return outcome


def _far(y: Tensor, x: Tensor, w: Tensor, p: float, error: Tensor) -> str:
    """An element further from its mean than any mask makes it credible: Hoeffding's bound, for all of them together."""
    bound = (x**2 @ w**2).sqrt() / (1 - p) * math.sqrt(math.log(2 * y.numel() / RISK) / 2) + error
    far = (y - x @ w).abs() > bound
    if not bool(far.any()):
        return ""
    place = tuple(int(i) for i in torch.unravel_index(far.flatten().int().argmax(), far.shape))
    mean, most = float((x @ w)[place]), float(bound[place])
    return (
        f"{int(far.sum())} of {y.numel()} elements are not credible: at {list(place)} got {float(y[place]):.6g}, "
        f"the mean over all masks is {mean:.6g}, and at most {most:.3g} from it is credible"
    )


def _spread(y: Tensor, x: Tensor, w: Tensor, p: float, error: Tensor) -> str:
    """Mean and spread of the output against those of dropout."""
    inverse = torch.linalg.pinv(w, rtol=CUTOFF)
    typical = x.abs().flatten().median().clamp(min=1e-300)
    counting = x.sign() / x.abs().clamp(min=typical) @ (w @ inverse) @ inverse.mT
    width = (x**2 @ w**2).sqrt()
    even = torch.where(width > 1e-9 * width.max(), 1 / width, 0.0)
    for u, what in ((counting, "the share of kept elements"), (even, "the mean of the elements")):
        rows, weights = ((y - x @ w) * u).sum(-1), x * (u @ w.mT)  # row = sum over k of weights * (mask / (1 - p) - 1)
        blur, squares = (error * u.abs()).sum(-1), (weights**2).sum(-1)
        allowed = float(squares.sum().sqrt()) / (1 - p) * math.sqrt(math.log(2 / RISK) / 2) + float(blur.sum())
        if abs(off := float(rows.sum())) > allowed:
            return f"{what} is off by {abs(off) / allowed:.3g} times what is credible for p = {p:g}"
        if _too_wild(rows, blur, squares, p):
            return f"the output varies more than dropout with p = {p:g} can make it vary"
    return _too_still((y - x @ w) @ inverse, x, w @ inverse, inverse, p, error)


def _too_wild(rows: Tensor, blur: Tensor, squares: Tensor, p: float) -> bool:
    """Whether the rows' sums are larger than those of subgaussian variables with variances squares / (2 (1 - p))^2."""
    size = (rows.abs() - blur).clamp(min=0) ** 2 * 4 * (1 - p) ** 2
    used = squares > 1e-9 * squares.max()
    bound = math.log(1 / RISK)
    count = int(used.sum())
    return float((size[used] / squares[used]).sum()) > count + 2 * math.sqrt(count * bound) + 2 * bound


def _too_still(g: Tensor, x: Tensor, onto: Tensor, inverse: Tensor, p: float, error: Tensor) -> str:
    """Whether g varies less than dropout makes it vary: row by row its square, as a share of the expected one."""
    variance, fourth = p / (1 - p), p * (1 - 3 * p * (1 - p)) / (1 - p) ** 3
    squares = x**2
    diagonal = squares * onto.diagonal(dim1=-2, dim2=-1).unsqueeze(-2)
    mean = variance * diagonal.sum(-1)
    trace = ((squares @ onto**2) * squares).sum(-1)
    second = (fourth - 3 * variance**2) * (diagonal**2).sum(-1) + variance**2 * (diagonal.sum(-1) ** 2 + 2 * trace)
    blur = torch.linalg.vector_norm(error, dim=-1) * torch.linalg.matrix_norm(inverse, 2).unsqueeze(-1)
    size = (torch.linalg.vector_norm(g, dim=-1) + blur) ** 2
    used = mean > 1e-9 * mean.max()
    count, found = int(used.sum()), float((size[used] / mean[used]).sum())
    slack = math.sqrt(2 * math.log(1 / RISK) * float((second[used] / mean[used] ** 2).sum()))
    if found >= count - slack:
        return ""
    return f"the output varies {found / count:.3g} times as much as dropout with p = {p:g} makes it vary"


def _same(y: Tensor, second: Tensor, x: Tensor, w: Tensor, p: float, error: Tensor) -> bool:
    """Whether two seeds gave the same result, and that is no chance.

    A row shows its mask if one element changes it visibly: given the others, that one must then be the same twice.
    """
    if not bool(((y - second).abs() <= 2 * error).all()):
        return False
    visible = ((x.unsqueeze(-1) * w.unsqueeze(-3)).abs() / (1 - p) > 8 * error.unsqueeze(-2)).flatten(-2).any(-1)
    return int(visible.sum()) * math.log(p**2 + (1 - p) ** 2) < math.log(RISK)
