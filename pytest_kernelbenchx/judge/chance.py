"""Bounds on what chance can do, valid for every sample size, and repetition that is no chance."""

import math

from torch import Tensor

OWN_SEED = 0x6B62785F6A756467
"""Of the judge's own random numbers: those of a candidate follow from the case's seed, and must not be the same."""
RISK = 1e-9
PERIODS = tuple(2**i for i in range(3, 14))
"""Lengths of blocks that a kernel may fill with the same numbers, when it forgets the block's index in the offset."""


def credible(hits: int, count: int, p: float) -> bool:
    """Whether `hits` of `count` independent events of probability p are credible, at a two-sided risk of `RISK`.

    Chernoff: P(share at least as far from p on its side) <= exp(-count * KL(share || p)).
    """
    if count == 0:
        return True
    share = hits / count
    divergence = sum(a * math.log(a / b) for a, b in ((share, p), (1 - share, 1 - p)) if a)
    return count * divergence <= math.log(2 / RISK)


def repeats(values: Tensor, clear: Tensor, equal: float) -> str:
    """How `values` repeat themselves (rows, blocks), or "".

    Args:
        clear: which elements count.
        equal: the probability of the most probable value: that of c elements being equal is at most equal**(c - 1).
    """
    for axis in range(values.ndim - 1):
        same, both = _shifted(values.movedim(axis, 0).flatten(1), clear.movedim(axis, 0).flatten(1), 1)
        if certain(both, equal) and bool(same[both].all()):
            return f"all slices along axis {axis} are the same"
    for period in PERIODS:
        if 2 * period > values.numel():
            break
        same, both = _shifted(values.flatten(), clear.flatten(), period)
        if certain(both, equal) and bool(same[both].all()):
            return f"it has a period of {period} elements"
    return ""


def _shifted(values: Tensor, clear: Tensor, by: int) -> tuple[Tensor, Tensor]:
    return values[by:] == values[:-by], clear[by:] & clear[:-by]


def certain(both: Tensor, equal: float) -> bool:
    """Whether equality everywhere has a probability below `RISK`."""
    return int(both.sum()) * math.log(max(equal, 1e-300)) < math.log(RISK)
