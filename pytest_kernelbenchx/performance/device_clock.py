"""Device times as data of pytest-benchmark, through its documented interface alone.

pytest-benchmark takes for a round's time what its timer shows after the round less what it showed before. The timer
here stands still until it is told to move, and every round moves it by one time that the device reported: what
pytest-benchmark writes, compares and prints is then exactly what was measured elsewhere.
"""

from collections.abc import Callable, Sequence
from itertools import cycle
from typing import Any

import pytest

from pytest_kernelbenchx.collection import TaskFile

UNUSED = "ignore:Benchmark fixture was not used at all"  # so it is wherever a stage fails before its times are known
MEASURED = ("speedup", "low", "high", "iou", "mfu", "efficiency", "bound", "mode")
VERSIONS = ("suite", "torch", "triton", "python")


class DeviceClock:
    """A timer of pytest-benchmark that shows the seconds it was told."""

    __name__ = "device_clock"  # the `timer` of a benchmark's options in the JSON

    def __init__(self) -> None:
        self.now: float | None = None

    def __call__(self) -> float:
        if self.now is None:  # calibration would wait for ever for the clock to move
            raise RuntimeError("benchmark() was called in a test that asks for device_times, whose clock stands still")
        return self.now

    def play(self, benchmark: Any, seconds: Sequence[float]) -> None:
        """Record every one of `seconds` as one round of `benchmark`, pytest-benchmark's fixture."""
        pending = cycle(seconds)  # a profile (--benchmark-cprofile) calls once more

        def rewind() -> tuple[tuple[float], dict[str, Any]]:
            self.now = 0.0  # so that a round's time is the time itself, not a rounded difference of two sums
            return (next(pending),), {}

        try:
            benchmark.pedantic(self._advance, setup=rewind, rounds=len(seconds))
        finally:
            self.now = None

    def _advance(self, seconds: float) -> None:
        assert self.now is not None
        self.now += seconds


CLOCK = DeviceClock()


class WithBenchmark:
    """The fixture, and the mark of every test that asks for it."""

    def pytest_itemcollected(self, item: pytest.Item) -> None:
        """Timer and group go into one mark: pytest-benchmark reads the closest alone."""
        if "device_times" not in getattr(item, "fixturenames", ()):
            return
        given = item.get_closest_marker("benchmark")
        task = item.getparent(TaskFile)
        group = {"group": f"{task.path.parent.name}/{task.path.stem}"} if task else {}
        options = {**group, **(given.kwargs if given else {}), "timer": CLOCK}
        item.add_marker(pytest.mark.benchmark(**options), append=False)
        item.add_marker(pytest.mark.filterwarnings(UNUSED))

    @pytest.fixture
    def device_times(self, benchmark: Any) -> Callable[..., None]:
        """`device_times(seconds, **extra_info)` hands times that were measured elsewhere to pytest-benchmark.

        `seconds` is a list with one time a round. Such a test can't measure anything with `benchmark` itself.
        """

        def play(seconds: Sequence[float], **extra_info: Any) -> None:
            CLOCK.play(benchmark, seconds)
            benchmark.extra_info.update(extra_info)

        return play


class WithoutBenchmark:
    """What stands in for it where pytest-benchmark is switched off (`-p no:benchmark`)."""

    @pytest.fixture
    def device_times(self) -> Callable[..., None]:
        """`device_times(seconds, **extra_info)` does nothing: pytest-benchmark is switched off."""
        return lambda seconds, **extra_info: None


def extra_info(evaluation: Any, size: str) -> dict[str, Any]:
    """What a benchmark's `extra_info` says of a size that was measured: of whom, where, and what came out.

    Args:
        evaluation: of a candidate, or of PyTorch itself, whose method is `eager`.
        size: label of a size that was measured.
    """
    candidate = getattr(evaluation, "candidate", None)
    measured, environment = evaluation.measurements[size], evaluation.laboratory.environment
    return {
        "task": evaluation.task.name,
        "category": evaluation.task.category,
        "method": candidate.method if candidate else "eager",
        "round": candidate.round if candidate else None,
        "sample": candidate.sample if candidate else None,
        "size": size,
        "device_name": environment["device_name"],
        **{name: getattr(measured, name) for name in MEASURED},
        "versions": {name: environment[name] for name in VERSIONS},
    }
