"""The timing protocol on a simulated device: its speed drifts, its clock wanders, some calls take much longer."""

import math
import random
from statistics import mean, median

import pytest

from pytest_kernelbenchx.performance import intervals, timing
from pytest_kernelbenchx.performance.clock import Clock, Side
from pytest_kernelbenchx.performance.host_clock import HostClock
from pytest_kernelbenchx.performance.timing import Plan, compare

SETS = 4


class Simulated(Clock):
    """Work says how long it takes by calling `work(seconds)`; the device adds drift, wander, noise and spikes."""

    l2 = 1 << 20

    def __init__(self, seed=0, drift=0.0, wander=0.0, noise=0.0, spikes=0.0, graphs=True):
        self.random = random.Random(seed)
        self.drift, self.noise, self.spikes, self.wander = drift, noise, spikes, wander
        self.allowed, self.state = graphs, 0.0
        self.time, self.pending = 0.0, 0.0
        self.order, self.flushed = [], []

    def work(self, seconds):
        self.pending += seconds

    def now(self):
        return self.time

    def wait(self):
        self.time += self.pending
        self.pending = 0.0

    def timed(self, works, flush=False):
        times = []
        for work in works:
            self.pending = 0.0
            work()
            times.append(self.pending * self.factor())
            self.time += times[-1]
            self.flushed.append(flush)
        self.pending = 0.0
        return times

    def factor(self):
        self.state = 0.98 * self.state + self.random.gauss(0, self.wander * 0.2)
        factor = (1 + self.drift * self.time + self.state) * math.exp(self.random.gauss(0, self.noise))
        return factor * (self.random.uniform(1.2, 3) if self.random.random() < self.spikes else 1.0)

    def capture(self, work):
        work()
        if not self.allowed:
            self.obstacle = "a test says no"
        return work if self.allowed else None


def sides(clock, reference, candidate, sets=SETS):
    """Two sides of that many seconds a call; each logs its name and the set."""

    def side(name, seconds):
        def call(number):
            clock.order.append((name, number))
            clock.work(seconds)
            return (name, number, len(clock.order))

        return Side(call, sets)

    return side("R", reference), side("C", candidate)


def ratio(clock, reference=103e-6, candidate=100e-6, plan=None):
    measured = compare(clock, *sides(clock, reference, candidate), plan)
    return measured, intervals.speedup(measured.reference, measured.candidate)


ROUGH = {"drift": 0.02, "wander": 0.01, "noise": 0.003, "spikes": 0.02}


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("seconds", [100e-6, 4e-6], ids=["events", "graph"])
def test_known_ratio_is_recovered(seed, seconds):
    measured, (speedup, low, high) = ratio(Simulated(seed, **ROUGH), 1.03 * seconds, seconds)
    assert abs(speedup / 1.03 - 1) < 0.005
    assert low < speedup < high
    assert measured.mode == ("events" if seconds > 30e-6 else "graph")


def test_drift_cancels_which_it_would_not_in_one_go():
    biased, paired = [], []
    for seed in range(10):
        clock = Simulated(seed, drift=2.0, noise=0.002)
        _, (speedup, *_) = ratio(clock, plan=Plan(fewest=60))
        paired.append(speedup / 1.03 - 1)
        clock = Simulated(seed, drift=2.0, noise=0.002)
        all_of_one, all_of_the_other = (clock.timed([side] * 60) for side in sides(clock, 103e-6, 100e-6))
        biased.append(median(all_of_one) / median(all_of_the_other) / 1.03 - 1)
    assert abs(mean(paired)) < 0.001
    assert mean(biased) < -0.005


def test_interval_covers_the_truth():
    hits = 0
    for seed in range(300):
        _, (_, low, high) = ratio(Simulated(seed, drift=0.02, wander=0.01, noise=0.015, spikes=0.02))
        hits += low <= 1.03 <= high
    assert hits >= 0.94 * 300


def test_interval_is_not_so_wide_that_it_always_covers():
    clock = Simulated(1, noise=0.002)
    _, (_, low, high) = ratio(clock)
    assert high / low < 1.02
    assert not low <= 1.05 <= high


def test_blocks_alternate():
    clock = Simulated()
    compare(clock, *sides(clock, 200e-6, 100e-6), Plan(fewest=12))
    names = "".join(name for name, _ in clock.order)
    assert names.endswith("RCCRRCCRRCCRRCCRRCCRRCCR")


def test_sets_take_turns_on_both_sides():
    clock = Simulated()
    compare(clock, *sides(clock, 200e-6, 100e-6))
    for name in "RC":
        numbers = [number for side, number in clock.order if side == name]
        assert numbers == [i % SETS for i in range(len(numbers))]


def test_other_memory_is_read_between_single_calls_only():
    clock = Simulated()
    compare(clock, *sides(clock, 200e-6, 100e-6))
    assert clock.flushed[-20:] == [True] * 20
    clock = Simulated()
    compare(clock, *sides(clock, 2e-6, 1e-6))
    assert not any(clock.flushed)


def test_graphs_hold_enough_calls_of_both_sides_alike():
    clock = Simulated()
    measured, (speedup, *_) = ratio(clock, 12e-6, 4e-6)
    assert measured.calls % SETS == 0
    assert 0.5e-3 < measured.calls * 4e-6 < 3e-3
    assert median(measured.candidate) == pytest.approx(4e-6)
    assert speedup == pytest.approx(3)


def test_replays_of_a_slow_partner_stay_short():
    assert timing.calls_per_replay(5e-6, 10e-3, 16) <= 2
    assert timing.calls_per_replay(1e-6, 1e-6, 16) <= timing.CALLS_MOST + 16


def test_without_graphs_calls_are_measured_together_and_labelled():
    clock = Simulated(graphs=False)
    measured, (speedup, *_) = ratio(clock, 6e-6, 4e-6)
    assert (measured.mode, measured.why) == ("events", "a test says no")
    assert 1 < measured.calls <= timing.EAGER_MOST
    assert speedup == pytest.approx(1.5)


def test_graphs_are_not_tried_where_they_must_not_be():
    clock = Simulated()
    clock.graphs = False
    assert ratio(clock, 6e-6, 4e-6)[0].mode == "events"


@pytest.mark.parametrize(
    ("noise", "plan", "why", "blocks"),
    [
        (0.0, Plan(), "precise", range(10, 13)),
        (0.2, Plan(), "blocks", range(60, 61)),
        (0.2, Plan(budget=5e-3), "budget", range(2, 60)),
    ],
)
def test_stops_and_says_why(noise, plan, why, blocks):
    measured, _ = ratio(Simulated(3, noise=noise), plan=plan)
    assert measured.stopped == why
    assert len(measured.reference) == len(measured.candidate)
    assert len(measured.candidate) in blocks


def test_no_block_is_dropped():
    clock = Simulated(5, spikes=0.3)
    measured, _ = ratio(clock)
    timed = clock.flushed.count(True)
    assert len(measured.reference) + len(measured.candidate) == timed
    assert max(measured.candidate) > 1.2 * min(measured.candidate)


def test_warm_up_waits_until_times_settle():
    class Heating(Simulated):
        def factor(self):
            return 1 + max(0.0, 0.3 - self.time)  # the first 0.3 s are slower

    clock = Heating()
    spent, stable = timing.warm_up(clock, sides(clock, 1e-3, 1e-3))
    assert stable
    assert 0.1 <= spent < timing.WARM_MOST
    clock = Simulated(1, noise=0.5)
    spent, stable = timing.warm_up(clock, sides(clock, 0.05, 0.05))
    assert spent <= 2 * timing.WARM_MOST


def test_one_output_per_set_is_kept_and_any_may_be():
    chosen = set()
    for _ in range(60):
        clock = Simulated()
        side = sides(clock, 1e-6, 1e-6)[0]
        side.times(5 * SETS)()
        assert [output[1] for output in side.kept] == list(range(SETS))
        chosen.add(side.kept[0][2])
    assert chosen == {1, 5, 9, 13, 17}  # of the calls on set 0, each is kept now and then


@pytest.mark.parametrize("seconds", [100e-6, 4e-6], ids=["events", "graph"])
def test_sets_get_other_values_before_and_while_blocks_are_measured(seconds):
    clock, renewed = Simulated(noise=0.2), []

    def renew(number):
        renewed.append((number, len(clock.order)))

    reference, candidate = sides(clock, seconds, seconds)
    compare(clock, reference, candidate, renew=renew)
    assert [number for number, _ in renewed[:SETS]] == list(range(SETS))
    assert len(renewed) > SETS
    assert {number for number, _ in renewed} <= set(range(SETS))
    for side in (reference, candidate):
        for number, output in enumerate(side.kept):
            last = max(when for renewed_number, when in renewed if renewed_number == number)
            assert output is None or output[2] > last, "an output of former values was kept"


def test_latency_counts_the_host():
    clock = Simulated()
    side = sides(clock, 7e-6, 1e-6)[0]
    assert timing.latency(clock, side) == pytest.approx(7e-6)


def test_rank_interval_of_few_values():
    assert intervals.rank_interval([3.0]) == (3.0, 3.0)
    assert intervals.rank_interval([1.0, 2.0, 3.0]) == (1.0, 3.0)
    low, high = intervals.rank_interval(list(range(60)))
    assert (low, high) == (21, 38)


def test_protocol_runs_on_the_host():
    numbers = [list(range(2000)) for _ in range(SETS)]
    clock = HostClock()
    measured = compare(
        clock, Side(lambda i: (sum(numbers[i]), sum(numbers[i])), SETS), Side(lambda i: sum(numbers[i]), SETS)
    )
    speedup, _, _ = intervals.speedup(measured.reference, measured.candidate)
    assert 1.5 < speedup < 2.7
