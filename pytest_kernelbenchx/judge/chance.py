"""Bounds on what chance can do, valid for every sample size, and repetition that is no chance.

A right candidate is failed by chance at most once in 10**6: it gets at most `CASES` cases (300 at thorough effort, and
the examples), each with at most `TESTS` tests, and each test has an error probability of at most `RISK`, so that all
together have at most `FAMILY` (Boole's inequality).
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from torch import Tensor

OWN_SEED = 0x6B62785F6A756467
"""Of the judge's own random numbers: those of a candidate follow from the case's seed, and must not be the same."""
FAMILY, CASES, TESTS = 1e-6, 400, 100
RISK = FAMILY / (CASES * TESTS)
PERIODS = tuple(2**i for i in range(3, 14))
"""Sides of blocks that a kernel may fill with the same numbers, when it forgets the block's index in the offset."""
STEPS = (1, 2, 4, *PERIODS)


def credible(hits: int, count: int, p: float) -> bool:
    """Whether `hits` of `count` independent events of probability p are credible, at a two-sided risk of `RISK`.

    Chernoff: P(share at least as far from p on its side) <= exp(-count * KL(share || p)).
    """
    if count == 0:
        return True
    share = hits / count
    divergence = sum(a * math.log(a / b) for a, b in ((share, p), (1 - share, 1 - p)) if a)
    return count * divergence <= math.log(2 / RISK)


def pooled(masks: Iterable[Mapping[str, Any]]) -> str:
    """What is not credible in the masks of all cases together, or "".

    The share of dropped elements obeys Chernoff's bound for the mean probability, also where every case has another
    one (Hoeffding, Probability inequalities for sums of bounded random variables, 1963, theorem 1).

    Args:
        masks: of every case `p`, how many elements were `judged`, and how many of these `dropped`.
    """
    every = list(masks)
    for p in [*sorted({mask["p"] for mask in every}), None]:
        some = [mask for mask in every if p in (None, mask["p"])]
        judged, lost = (sum(mask[key] for mask in some) for key in ("judged", "dropped"))
        mean = sum(mask["p"] * mask["judged"] for mask in some) / max(judged, 1)
        if not credible(lost, judged, mean):
            what = f"in all cases with p = {p:g} together" if p is not None else "in all cases together"
            return f"{what}, {100 * lost / judged:.4g} % of {judged} elements were dropped, not {100 * mean:.4g} %"
    return ""


def repeats(values: Tensor, clear: Tensor, equal: float) -> str:
    """How `values` repeat themselves (slices, blocks, tiles), or "".

    A tile that is the same in all of a matrix has a period along either axis, a block of consecutive elements has one
    in their order.

    Args:
        clear: which elements count.
        equal: the probability of the most probable value: that of c elements being equal is at most equal**(c - 1).
    """
    if not certain(clear, equal):
        return ""
    for what, rows, counts, step in _shifts(values, clear):
        same, both = _shifted(rows, counts, step)
        if certain(both, equal) and bool((same | ~both).all()):
            return what
    return ""


def _shifts(values: Tensor, clear: Tensor) -> Iterator[tuple[str, Tensor, Tensor, int]]:
    for axis, length in enumerate(values.shape):
        rows, counts = (each.movedim(axis, 0).reshape(length, -1) for each in (values, clear))
        for step in STEPS:
            if step < length:
                what = f"it has a period of {step} {f'along axis {axis}' if values.ndim > 1 else 'elements'}"
                yield f"all slices along axis {axis} are the same" if step == 1 else what, rows, counts, step
    for period in PERIODS if values.ndim > 1 else ():
        if period < values.numel():
            yield f"it has a period of {period} elements", values.flatten(), clear.flatten(), period


def _shifted(values: Tensor, clear: Tensor, by: int) -> tuple[Tensor, Tensor]:
    return values[by:] == values[:-by], clear[by:] & clear[:-by]


def certain(both: Tensor, equal: float) -> bool:
    """Whether equality everywhere has a probability below `RISK`."""
    return int(both.sum()) * math.log(max(equal, 1e-300)) < math.log(RISK)
