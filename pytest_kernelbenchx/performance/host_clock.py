"""The host as a device, for tests of the protocol: nothing is asynchronous, and no verdict rests on its times."""

import time
from collections.abc import Sequence

from pytest_kernelbenchx.performance.clock import Clock, Work


class HostClock(Clock):
    """Clock of the CPU."""

    l2 = 1 << 20

    def now(self) -> float:
        return time.perf_counter()

    def wait(self) -> None:
        """There is nothing to wait for."""

    def timed(self, works: Sequence[Work], flush: bool = False) -> list[float]:
        times = []
        for work in works:
            start = time.perf_counter()
            work()
            times.append(max(time.perf_counter() - start, 1e-9))
        return times

    def capture(self, work: Work) -> Work | None:
        work()
        return work
