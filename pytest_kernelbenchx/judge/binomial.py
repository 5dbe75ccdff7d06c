"""Binomial samples are judged by what every right generator has in common, as dropout and uniform numbers are.

A count k of n trials with probability p is an integer from 0 to n. Its rank P(fewer) + v * P(k), where v is uniform in
[0, 1), is uniform in [0, 1) itself (Rueschendorf, On the distributional transform, Sklar's theorem, and the empirical
copula process, 2009, proposition 2.1). So the ranks of all elements, whatever their n and p, are judged as uniform
numbers are. The mean is judged more sharply: the trials of all elements are independent events, whose share of
successes obeys Chernoff's bound for the mean probability (Hoeffding, Probability inequalities for sums of bounded
random variables, 1963, theorem 1).
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from pytest_kernelbenchx.judge.chance import OWN_SEED, certain, credible, repeats
from pytest_kernelbenchx.judge.randomized import not_uniform
from pytest_kernelbenchx.judge.verdicts import Outcome, Verdict

COMMON = 0.75  # an element with so probable a count says nothing about repetition


@dataclass(frozen=True)
class Binomial:
    """Numbers of successes in independent trials.

    Args:
        parts: gives the numbers of trials and the probabilities of success, which broadcast to the output, from the
            arguments that it names, in float64.
    """

    parts: Callable[..., tuple[Tensor, Tensor]]


def judge_binomial(got: Tensor, n: Tensor, p: Tensor, *, second: Tensor | None = None, name: str = "output") -> Outcome:
    """`PASSED` or `WRONG_VALUES`.

    Args:
        got: the output, in its own type; its form was checked.
        n, p: numbers of trials and probabilities in float64, of shapes that broadcast to that of `got`.
        second: the output of the same call under another seed.
    """
    counts, n, p = torch.broadcast_tensors(got.to(torch.float64), n.to(torch.float64), p)
    stray = ~((counts >= 0) & (counts <= n) & (counts == counts.floor()))
    stray |= (p == 0) & (counts != 0) | (p == 1) & (counts != n)
    if bool(stray.any()):
        return _stray(got, n, p, stray, name)
    trials, successes = int(n.sum()), int(counts.sum())
    if reason := _repeated(got, second, n, p) or _mean(trials, successes, float((n * p).sum())) or _ranks(counts, n, p):
        return _wrong(f"{name}: {reason}")
    return Outcome(Verdict.PASSED, facts={"trials": trials, "successes": successes})


def _repeated(got: Tensor, second: Tensor | None, n: Tensor, p: Tensor) -> str:
    """The same counts again, within the output or under another seed."""
    k = ((n + 1) * p).floor().minimum(n)  # the most probable count
    choices = torch.lgamma(n + 1) - torch.lgamma(k + 1) - torch.lgamma(n - k + 1)
    most = torch.exp(choices + torch.xlogy(k, p) + torch.xlogy(n - k, 1 - p))
    clear = most < COMMON
    equal = float(most[clear].max()) if bool(clear.any()) else 1.0
    if what := repeats(got, clear, equal):
        return f"the counts repeat: {what}"
    if second is not None and certain(clear, equal) and torch.equal(got[clear], second[clear]):
        return "another seed gives the same counts"
    return ""


def _mean(trials: int, successes: int, expected: float) -> str:
    if not 0 < expected < trials or credible(successes, trials, expected / trials):
        return ""
    return f"{successes} of {trials} trials succeeded, {expected:.6g} are expected"


def _ranks(counts: Tensor, n: Tensor, p: Tensor) -> str:
    """Ranks that are not uniform; where failures are rarer they are counted, so that nothing underflows."""
    if not counts.numel():
        return ""
    failing = p > 0.5  # more often than not, a trial succeeds: failures are counted
    k, p = torch.where(failing, n - counts, counts), p.minimum(1 - p)
    exactly, fewer, own = (1 - p) ** n, torch.zeros_like(p), torch.zeros_like(p)
    for number in range(int(k.max()) + 1):
        fewer += torch.where(k > number, exactly, 0.0)
        own = torch.where(k == number, exactly, own)
        exactly = exactly * (n - number) / (number + 1) * p / (1 - p)
    chance = torch.rand(k.shape, dtype=torch.float64, generator=torch.Generator().manual_seed(OWN_SEED))
    ranks = fewer + chance * own
    reason = not_uniform(torch.where(failing, 1 - ranks, ranks).flatten(), step=1e-9)
    return f"the counts do not follow their binomial distributions: of their ranks, {reason}" if reason else ""


def _stray(got: Tensor, n: Tensor, p: Tensor, stray: Tensor, name: str) -> Outcome:
    place = tuple(int(i) for i in torch.unravel_index(stray.flatten().int().argmax(), stray.shape))
    what = f"{got[place].item():g}, where {n[place].item():g} trials of probability {p[place].item():.3g} are made"
    return _wrong(f"{name}: {int(stray.sum())} of {stray.numel()} counts are impossible: at {list(place)} got {what}")


def _wrong(reason: str) -> Outcome:
    return Outcome(Verdict.WRONG_VALUES, reason)
