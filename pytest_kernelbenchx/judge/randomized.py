"""Outputs that depend on random numbers are judged by what every right generator has in common.

Dropout: the mask is read off the output. Every element must be what it is when kept or what it is when dropped; where
these two agree it says nothing. The share of dropped ones must be credible for p, the mask must not repeat itself from
row to row or block to block, and another seed must give another mask. Uniform numbers: range, distribution,
independence of neighbours, no period, another seed.

All bounds hold for every sample size and have an error probability of at most `RISK`, which leaves a right candidate a
chance of 10**-6 to fail any of its cases (`judge.chance`): Chernoff's bound for counts, Bernstein's for means, and
Dvoretzky-Kiefer-Wolfowitz-Massart's for the distance of distributions (Kolmogorov and Smirnov's statistic).
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from pytest_kernelbenchx.judge.chance import PERIODS, RISK, certain, credible, repeats
from pytest_kernelbenchx.judge.compare import agreement, compare
from pytest_kernelbenchx.judge.tolerance import DEFAULT, Tolerance
from pytest_kernelbenchx.judge.verdicts import Outcome, Verdict


@dataclass(frozen=True)
class Dropout:
    """How a task names what drives its dropout.

    Args:
        p: the argument that holds the probability of being dropped.
        training: the argument that switches dropout on, or None if it is always on.
    """

    p: str = "p"
    training: str | None = "training"

    def rate(self, arguments: Mapping[str, Any]) -> float:
        """The probability in force, 0 when not training. `arguments` are all of the call's, defaults included."""
        if self.training is not None and not arguments[self.training]:
            return 0.0
        return float(arguments[self.p])


@dataclass(frozen=True)
class Uniform:
    """Numbers drawn uniformly from [low, high)."""

    low: float = 0.0
    high: float = 1.0


class Fixed(TorchFunctionMode):
    """Within it dropout keeps everything (`keep=True`, scaled by 1 / (1 - p)) or drops everything.

    A reference evaluated under both gives `kept` and `dropped` of `judge_dropout`, provided that no operation after the
    dropout mixes elements.
    """

    def __init__(self, keep: bool):
        super().__init__()
        self.keep = keep

    def __torch_function__(self, function, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
        kwargs = kwargs or {}
        if function not in (torch.dropout, torch.nn.functional.dropout):
            return function(*args, **kwargs)
        names = ("input", "p", "train" if function is torch.dropout else "training", "inplace")
        given = {"p": 0.5, names[2]: True, **dict(zip(names, args, strict=False)), **kwargs}
        if not given[names[2]] or given["p"] == 0:
            return given["input"]
        keep = self.keep and given["p"] < 1
        return given["input"] / (1 - given["p"]) if keep else torch.zeros_like(given["input"])


def judge_dropout(
    got: Tensor,
    kept: Tensor,
    dropped: Tensor,
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
        got: the output, in its own type; its form was checked.
        kept: the float64 result if nothing is dropped, scaled by 1 / (1 - p) where the task scales; unused if p is 1.
        dropped: the float64 result if everything is dropped.
        p: the probability in force: 0 when not training.
        second: the output of the same call under another seed.
        eager, noise: as `compare` takes them, of `kept`.
    """
    if p in (0, 1):
        return judge_certain(got, dropped if p else kept, p, eager=eager, noise=noise, tolerance=tolerance, name=name)

    def states(output: Tensor) -> tuple[Tensor, Tensor]:
        is_kept, room = agreement(output, kept, eager=eager, noise=noise, tolerance=tolerance)
        is_dropped, more = agreement(output, dropped, tolerance=tolerance)
        # told apart whichever of them it is, lest the share of one be counted too low
        both = (is_kept | is_dropped) & ((kept - dropped).abs() <= 2 * (room + more))
        return is_kept | both, is_dropped | both

    again = None if second is None else states(second)
    return judge_mask(got, kept, dropped, p, states(got), second=again, name=name)


def judge_certain(got: Tensor, truth: Tensor, p: float, *, name: str, **how: Any) -> Outcome:
    """The verdict where p is 0 or 1, so that nothing is random; `how` to compare is as in `compare`."""
    wrong = compare(got, truth, name=name, **how)
    return _wrong(f"with p = {p:g} there is no choice, but {wrong.message(name)}") if wrong else _passed({})


def judge_mask(
    got: Tensor,
    kept: Tensor,
    dropped: Tensor,
    p: float,
    states: tuple[Tensor, Tensor],
    *,
    second: tuple[Tensor, Tensor] | None,
    name: str,
) -> Outcome:
    """The verdict on a mask.

    Args:
        states: which elements look kept, and which dropped; both where these look the same.
        second: the same under another seed.
    """
    is_kept, is_dropped = states
    stray = ~(is_kept | is_dropped)
    if bool(stray.any()):
        return _stray(got, kept, dropped, stray, name)
    clear = is_kept != is_dropped
    count, lost = _counts(states)
    facts: dict[str, Any] = {"judged": count, "dropped": lost}
    if 0 < lost < count and (what := repeats(is_dropped, clear, max(p, 1 - p))):
        return Outcome(Verdict.WRONG_VALUES, f"{name}: the mask repeats: {what}", facts=facts)
    if not credible(lost, count, p):
        reason = f"{lost} of {count} elements were dropped ({100 * lost / count:.3g} %), p is {p:g}"
        return Outcome(Verdict.WRONG_VALUES, f"{name}: {reason}", facts=facts)
    if second is not None:
        again = second[1]
        both = clear & (second[0] != again)
        if certain(both, p**2 + (1 - p) ** 2) and bool((again == is_dropped)[both].all()):
            return Outcome(Verdict.WRONG_VALUES, f"{name}: another seed gives the same mask", facts=facts)
        count, lost = count + _counts(second)[0], lost + _counts(second)[1]
    return _passed({**facts, "mask": {"p": p, "judged": count, "dropped": lost}})


def _counts(states: tuple[Tensor, Tensor]) -> tuple[int, int]:
    """Elements that tell whether they were kept or dropped, and how many of them were dropped."""
    is_kept, is_dropped = states
    return int((is_kept != is_dropped).sum()), int((is_dropped & ~is_kept).sum())


def judge_uniform(got: Tensor, spec: Uniform, *, second: Tensor | None = None, name: str = "output") -> Outcome:
    """`PASSED` or `WRONG_VALUES` for an output of uniform random numbers; `second` is that of another seed."""
    values = (got.detach().to(torch.float64).flatten() - spec.low) / (spec.high - spec.low)
    count = values.numel()
    if count == 0:
        return _passed({})
    outside = ~((values >= 0) & (values < 1))
    if bool(outside.any()):
        worst = got.flatten()[outside][0].item()
        return _wrong(
            f"{name}: {int(outside.sum())} of {count} numbers are outside [{spec.low:g}, {spec.high:g}): {worst}"
        )
    step = torch.finfo(got.dtype).eps / 2  # numbers of 16 bits are a coarse grid
    if reason := _repeated(got, second) or not_uniform(values, step):
        return _wrong(f"{name}: {reason}")
    return _passed({"mean": float(values.mean()), "count": count})


def not_uniform(values: Tensor, step: float) -> str:
    """Distribution (which bounds all moments) and dependence of neighbours, of numbers in [0, 1)."""
    count = values.numel()
    bound = math.sqrt(math.log(2 / RISK) / (2 * count))
    ordered, ranks = values.sort().values, torch.arange(count, dtype=torch.float64)
    distance = float(torch.maximum((ranks + 1) / count - ordered, ordered - ranks / count).max())
    if distance > bound + step:
        return f"the distribution is not uniform: it is off by {distance:.3g}, {bound:.3g} is credible"
    for lag in (1, 2, *PERIODS):
        pairs = (values[: count - count % (2 * lag)] - 0.5).reshape(-1, 2, lag)
        product = (pairs[:, 0] * pairs[:, 1]).flatten()  # independent, in [-1/4, 1/4], of variance 1/144
        mean = abs(float(product.mean())) if product.numel() else 0.0
        if product.numel() * mean**2 > 2 * (1 / 144 + mean / 12) * math.log(2 / RISK):
            return f"numbers {lag} apart depend on each other"
    return ""


def _repeated(got: Tensor, second: Tensor | None) -> str:
    """The same numbers again, within the output or under another seed."""
    chance = torch.finfo(got.dtype).eps  # that two numbers are equal
    everything = torch.ones(got.shape, dtype=torch.bool)
    if what := repeats(got, everything, chance):
        return f"the numbers repeat: {what}"
    if second is not None and certain(everything, chance) and torch.equal(got, second):
        return "another seed gives the same numbers"
    return ""


def _stray(got: Tensor, kept: Tensor, dropped: Tensor, stray: Tensor, name: str) -> Outcome:
    """Elements that are neither of their two values; a common factor is named."""
    place = tuple(int(i) for i in torch.unravel_index(stray.flatten().int().argmax(), stray.shape))
    reason = (
        f"{name}: {int(stray.sum())} of {stray.numel()} elements are neither kept nor dropped: at {list(place)} got "
        f"{got[place].item():.6g}, expected {kept[place].item():.6g} (kept) or {dropped[place].item():.6g} (dropped)"
    )
    share = (got.to(torch.float64) / kept)[stray & (kept != 0)]
    factor = float(share.median()) if share.numel() else 1.0
    if share.numel() > 2 and math.isfinite(factor) and bool(((share - factor).abs() <= 0.01 * abs(factor)).all()):
        reason += f"; all of them are {factor:.4g} times the kept value: is the scale 1 / (1 - p)?"
    return _wrong(reason)


def _wrong(reason: str) -> Outcome:
    return Outcome(Verdict.WRONG_VALUES, reason)


def _passed(facts: dict[str, Any]) -> Outcome:
    return Outcome(Verdict.PASSED, facts=facts)
