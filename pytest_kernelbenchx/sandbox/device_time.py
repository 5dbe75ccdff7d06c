"""A call under torch.profiler, on a GPU: whose kernels took how long.

CUPTI records every kernel, of every thread and stream. It is the candidate's own if the call of the driver that
launched it, which it shares a number with, lies within a launch that the witness saw: names prove nothing. Any other is
put down to the operator of PyTorch that it was launched for, or else to its name.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from types import TracebackType
from typing import Any

import torch

from pytest_kernelbenchx.sandbox import aten

OWN, MOVES = "own", "moves"
LISTED = 40
COPIES = ("Memcpy", "Memset")
OVERHEAD = (
    "Activity Buffer Request",
    "Buffer Flush",
    "Command Buffer Full",
    "Driver Compiler",
    "Instrumentation",
    "Lazy Function Loading",
    "Resource",
    "Runtime Triggered Module Loading",
    "Unknown",
)
"""What CUPTI says of itself (CUpti_ActivityOverheadKind, in the names of Kineto): time that nobody asked for."""

Span = tuple[int, int]  # ns since the epoch, from before a launch to after it


@dataclass(frozen=True)
class Event:
    """One record: `what` is "kernel", "copy", "launch" (a call of the driver or runtime) or "operator".

    `number` is shared by a launch and its kernel; for an operator it is its own, which its kernels have as `operator`.
    """

    what: str
    name: str
    start: int
    nanoseconds: int
    number: int
    operator: int


class DeviceTime:
    """Profiles what happens inside `with`. `spans`: when own kernels were launched, filled while it runs."""

    def __init__(self, spans: list[Span]):
        from torch.profiler import ProfilerActivity, profile

        self.spans = spans
        self.profiler = profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA])

    def __enter__(self) -> DeviceTime:
        self.profiler.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        torch.cuda.synchronize()
        self.profiler.__exit__(kind, error, trace)

    def report(self, result: Any) -> dict:
        """`result` is what the call returned."""
        events = [event_of(record) for record in self.profiler.profiler.kineto_results.events()]  # type: ignore[union-attr]
        found = attribute([event for event in events if event is not None], self.spans)
        fault = None
        if self.spans and OWN not in found:
            fault = f"of {len(self.spans)} launches none was found among the kernels that ran"
        largest = sorted(found.items(), key=lambda item: (item[0] not in (OWN, MOVES), -item[1]))
        return {"device": {name[:200]: time / 1e9 for name, time in largest[:LISTED]}, "fault": fault}


def event_of(record: Any) -> Event | None:
    """What matters of one of Kineto's records, if anything does."""
    name, on_gpu = record.name(), record.device_type() == torch.autograd.DeviceType.CUDA
    if on_gpu:
        if record.is_user_annotation() or name in OVERHEAD:
            return None
        what = "copy" if name.startswith(COPIES) else "kernel"
    elif name.startswith("cu"):
        what = "launch"
    else:
        what = "operator"
    times = record.start_ns(), record.duration_ns()
    return Event(what, name, *times, record.correlation_id(), record.linked_correlation_id())


def attribute(events: Iterable[Event], spans: list[Span]) -> dict[str, int]:
    """Nanoseconds on the GPU: of own kernels, of moves (copies and fills, too), of every other operator or kernel."""
    events, spans = list(events), sorted(spans)
    launches = {event.number: event.start for event in events if event.what == "launch"}
    operators = {event.number: event.name for event in events if event.what == "operator"}
    starts = [start for start, _ in spans]
    found: dict[str, int] = defaultdict(int)
    for event in events:
        if event.what == "copy":
            found[MOVES] += event.nanoseconds
        elif event.what == "kernel":
            time = launches.get(event.number)
            place = -1 if time is None else bisect_right(starts, time) - 1
            own = place >= 0 and time is not None and time <= spans[place][1]
            operator = operators.get(event.operator)
            moves = operator is not None and aten.named(operator) not in (None, "compute")
            found[OWN if own else MOVES if moves else operator or event.name] += event.nanoseconds
    return dict(found)
