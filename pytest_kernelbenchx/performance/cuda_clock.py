"""The clock of a CUDA device: events behind a spin, graphs, and a flush that reads.

Made before a candidate is imported: the methods of events and graphs are taken from their base classes then, where
later changes of torch's own classes do not reach.
"""

import contextlib
import gc
import time
from collections.abc import Sequence

import torch

from pytest_kernelbenchx.performance.clock import Clock, Work

HEADROOM = 1.6  # the spin over the time that queueing took
SPIN_MOST = 20e-3
ATTEMPTS, GIVE_UP = 3, 3
FLUSH_SETS = 2  # times the cache; 128 MB are enough on a cache of 60
CALIBRATION = 2_000_000  # cycles of the spin
EMPTY = 200  # launches in the graph that gives the floor


class CudaClock(Clock):
    """Clock of the current CUDA device.

    Attributes:
        repeated: batches that were measured again, since the device had caught up with the host.
        late: batches of which that was true to the end, so that their times include waiting for the host.
    """

    def __init__(self) -> None:
        base, graph = torch._C._CudaEventBase, torch.cuda.CUDAGraph
        self._event, self._record, self._elapsed = base, base.record, base.elapsed_time
        self._query, self._synchronize = base.query, torch._C._cuda_synchronize
        self._graph, self._begin, self._end, self._replay = graph, graph.capture_begin, graph.capture_end, graph.replay
        self._spin, self._sum, self.now_ns = torch.cuda._sleep, torch.sum, time.perf_counter_ns
        self._stream = torch.cuda.current_stream()
        self.l2 = torch.cuda.get_device_properties(self._stream.device).L2_cache_size
        self._other = torch.rand(max(self.l2 * FLUSH_SETS, 64 << 20) // 4, device="cuda")
        self.repeated = self.late = 0
        self._in_a_row = 0
        self._queueing = 20e-6  # host seconds to queue one piece of work
        self._rate = 1e9
        self._calibrate()

    def now(self) -> float:
        return self.now_ns() * 1e-9

    def wait(self) -> None:
        self._synchronize()

    def timed(self, works: Sequence[Work], flush: bool = False) -> list[float]:
        attempts = ATTEMPTS if self._in_a_row < GIVE_UP else 1  # work that waits for the device itself is always late
        for attempt in range(attempts):
            times, late = self._queue(works, flush)
            if not late:
                break
            self.repeated += attempt < attempts - 1
        self.late += late
        self._in_a_row = self._in_a_row + 1 if late else 0
        return times

    def capture(self, work: Work) -> Work | None:
        stream, graph = torch.cuda.Stream(), self._graph()
        gc.collect()
        gc.disable()
        try:
            self.wait()
            with torch.cuda.stream(stream):
                work()  # what is made at the first call on a stream is not part of a capture
                self.wait()
                self._begin(graph)
                try:
                    work()
                finally:
                    self._end(graph)
            self.wait()
        except Exception as error:  # whatever a capture does not allow, of torch, of Triton or of the candidate
            self.obstacle = f"{type(error).__name__}: {error}".splitlines()[0][:200]
            with contextlib.suppress(Exception):
                self.wait()
            return None
        finally:
            gc.enable()
        return lambda: self._replay(graph)

    def floor(self) -> float:
        one = torch.zeros(1, device="cuda")
        replay = self.capture(lambda: [one.add_(1) for _ in range(EMPTY)])
        return min(self.timed([replay] * 5)) / EMPTY if replay is not None else 0.0

    def _queue(self, works: Sequence[Work], flush: bool) -> tuple[list[float], bool]:
        """Times, and whether the device had begun before everything was queued."""
        events = [(self._event(enable_timing=True), self._event(enable_timing=True)) for _ in works]
        gc.collect(0)
        gc.disable()
        self.wait()
        start = self.now()
        self._spin(int(min(SPIN_MOST, 50e-6 + HEADROOM * self._queueing * len(works)) * self._rate))
        for (before, after), work in zip(events, works, strict=True):
            if flush:
                self._sum(self._other)
            self._record(before, self._stream)
            work()
            self._record(after, self._stream)
        late = bool(self._query(events[0][0]))
        self._queueing = max(0.5 * self._queueing, (self.now() - start) / len(works))
        gc.enable()
        self.wait()
        return [max(self._elapsed(before, after) * 1e-3, 1e-9) for before, after in events], late

    def _calibrate(self) -> None:
        """Cycles of the spin in a second."""
        for _ in range(2):
            before, after = self._event(enable_timing=True), self._event(enable_timing=True)
            self._record(before, self._stream)
            self._spin(CALIBRATION)
            self._record(after, self._stream)
            self.wait()
            self._rate = CALIBRATION / max(self._elapsed(before, after) * 1e-3, 1e-6)
