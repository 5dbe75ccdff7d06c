"""Paired timing of PyTorch and a candidate on one device: which calls are made, in which order, until when.

Both sides work on the same input sets in turn, so that the cache is as cold for one as for the other. A block is one
measurement of each side, in the order R C or C R: over two blocks (R C C R) a drifting clock cancels. Below 30 us a
measurement is the replay of a graph of many calls, since a pair of events alone takes 3 us; above it is one call
between two events, with a pass over other memory before it, since a kernel leaves dirty lines that the next one pays
for. Blocks are measured until the interval of the median log ratio is narrow enough. No block is thrown away.

What a device does is behind `clock.Clock`; this module runs on any. Times are in seconds throughout.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from pytest_kernelbenchx.performance import intervals
from pytest_kernelbenchx.performance.clock import Clock, Side, Work

GRAPH_BELOW = 30e-6  # above, single calls between events spread by less than 0.5 % from process to process
EVENT_PAIR = 2.5e-6  # what a pair of events adds to a single call
REPLAY = 0.7e-3  # of the faster side: what a replay should take
REPLAY_MOST = 20e-3  # of the slower side
CALLS_MOST = 1000
EAGER_MOST = 64  # calls in one measurement without a graph: a stream's queue holds about 1,000 launches
WARM, WARM_MOST, WARM_WALL = 0.1, 1.0, 3.0  # device seconds of warm-up, at least and at most, and by the wall
STABLE = 0.02  # relative change between two windows of the warm-up
BATCH, BATCH_SECONDS = 10, 0.1  # blocks that are queued at once, and what they may take


@dataclass(frozen=True)
class Plan:
    """When to stop: after `fewest` blocks if the relative half width is below `precision`; after `most` blocks; when
    `budget` seconds have passed.
    """

    fewest: int = 10
    most: int = 60
    precision: float = 0.01
    budget: float = 2.0


@dataclass
class Timing:
    """What was measured.

    Attributes:
        reference, candidate: seconds per call, by block.
        mode: "graph" or "events".
        calls: calls in one measurement.
        stopped: "precise", "blocks" or "budget".
        why: for "events" below 30 us, why no graph could be had.
        warm: device seconds of the warm-up. stable: whether it ended because times no longer changed.
    """

    mode: str
    calls: int
    why: str = ""
    reference: list[float] = field(default_factory=list)
    candidate: list[float] = field(default_factory=list)
    stopped: str = ""
    warm: float = 0.0
    stable: bool = False


def compare(
    clock: Clock,
    reference: Side,
    candidate: Side,
    plan: Plan | None = None,
    renew: Callable[[int], Any] | None = None,
) -> Timing:
    """Measure both sides, which have been called before, so that nothing is compiled now.

    Args:
        renew: puts other values into a set, in place: into every one before the first block, and into one drawn at
            random from time to time. Results that were remembered by where their inputs lie are then wrong.
    """
    rough = [median(clock.timed([side] * 5)) for side in (reference, candidate)]
    timing, works = arrange(clock, reference, candidate, rough)
    flush = timing.calls == 1 and timing.mode == "events"
    timing.warm, timing.stable = warm_up(clock, works)

    def other_values(numbers: Sequence[int]) -> None:
        if renew is None:
            return
        for number in numbers:
            renew(number)
            if flush:  # outputs of other works are written again by the next of them
                reference.drop(number)
                candidate.drop(number)
        for work in () if flush else works:
            work()  # what was written last lies in the cache

    measure(clock, works, timing, flush, plan or Plan(), reference.sets, other_values)
    return timing


def arrange(clock: Clock, reference: Side, candidate: Side, rough: Sequence[float]) -> tuple[Timing, list[Work]]:
    """How to measure two sides that take about `rough` seconds a call: the same for both."""
    sides = [reference, candidate]
    if min(rough) >= GRAPH_BELOW:
        return Timing("events", 1), list(sides)
    calls = calls_per_replay(min(rough), max(rough), reference.sets)
    replays: list[Work] = []
    for side in sides:
        replay = clock.capture(side.times(calls)) if clock.graphs else None
        if replay is None:
            calls = min(calls, EAGER_MOST)
            return Timing("events", calls, clock.obstacle), [side.times(calls) for side in sides]
        replays.append(replay)
    return Timing("graph", calls), replays


def calls_per_replay(fast: float, slow: float, sets: int) -> int:
    """Calls in a graph: enough to resolve the faster side, every set as often as the others where there is room."""
    fast = max(fast - EVENT_PAIR, 1e-6)
    calls = min(CALLS_MOST, round(REPLAY / fast), int(REPLAY_MOST / slow))
    return calls // sets * sets + sets if calls >= sets else max(1, calls)


def warm_up(clock: Clock, works: Sequence[Work]) -> tuple[float, bool]:
    """Run both sides in turn until their times no longer change; device seconds spent, and whether they settled."""
    start, spent, before = clock.now(), 0.0, 0.0
    window = 1
    while True:
        times = clock.timed(list(works) * window)
        spent += sum(times)
        level = median([a + b for a, b in zip(times[::2], times[1::2], strict=True)])
        stable = before > 0 and abs(level - before) < STABLE * before
        if (spent >= WARM and stable) or spent >= WARM_MOST or clock.now() - start >= WARM_WALL:
            return spent, stable
        before, window = level, max(1, min(20, int(WARM / 4 / max(level, 1e-9))))


def measure(
    clock: Clock,
    works: Sequence[Work],
    timing: Timing,
    flush: bool,
    plan: Plan,
    sets: int,
    other_values: Callable[[Sequence[int]], None],
) -> None:
    """Measure blocks until the plan says stop, and write them, and why it stopped, into `timing`."""
    start, late = clock.now(), clock.late
    draw = random.SystemRandom().randrange
    blocks = 2
    while not timing.stopped:
        first = len(timing.reference)
        other_values([draw(sets)] if first else range(sets))
        swapped = [bool((first + i) % 2) for i in range(min(blocks, plan.most - first))]
        order = [work for swap in swapped for work in (reversed(works) if swap else works)]
        times = iter(clock.timed(order, flush))
        for swap in swapped:
            one, two = next(times) / timing.calls, next(times) / timing.calls
            timing.reference.append(two if swap else one)
            timing.candidate.append(one if swap else two)
        timing.stopped = why_stop(timing, plan, clock.now() - start)
        if flush:
            pair = timing.reference[-1] + timing.candidate[-1]
            blocks = max(2, min(BATCH, int(BATCH_SECONDS / pair) // 2 * 2)) if clock.late == late else 2


def why_stop(timing: Timing, plan: Plan, spent: float) -> str:
    count = len(timing.reference)
    if count >= plan.fewest and intervals.half_width(timing.reference, timing.candidate) < plan.precision:
        return "precise"
    return "blocks" if count >= plan.most else "budget" if spent >= plan.budget else ""


def latency(clock: Clock, side: Side, calls: int = 20, seconds: float = 0.1) -> float:
    """Median host seconds of a call and the wait for it."""
    times: list[float] = []
    clock.wait()
    while len(times) < calls and sum(times) < seconds:
        start = clock.now()
        side()
        clock.wait()
        times.append(clock.now() - start)
    return median(times)
