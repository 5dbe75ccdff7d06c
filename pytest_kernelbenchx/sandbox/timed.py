"""What a timing process does. The task is loaded, and its input sets are built, before the candidate is imported.

Requests, in this order; each is answered by {"ok": true, ...} or {"error": ...}:
    prepare    load the task, build the input sets of a case, run the reference once
    (load)     import the candidate, see `child`
    ready      run the candidate once, so that everything is compiled
    time       the paired measurement, see `performance.timing`
    sample     elements of the outputs of one timed call, see `samples`
or, in a process without a candidate,
    reference  what a case should give, at the same elements

The package's own `__init__`, which task files need, is not run where candidates are judged: `complete` runs it here.
"""

import contextlib
import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from pytest_kernelbenchx.performance.clock import Clock, Side
from pytest_kernelbenchx.performance.timing import Plan, compare, latency
from pytest_kernelbenchx.sandbox import failures
from pytest_kernelbenchx.sandbox.calls import copies, equal, prepared, shared, size_of, tensors
from pytest_kernelbenchx.sandbox.samples import AGAIN, PROBE, describe

if TYPE_CHECKING:
    from pytest_kernelbenchx.sandbox.child import Runner

SETS_MOST = 16
CACHES = 3  # times the cache that all sets together exceed
MEMORY_SHARE = 0.25  # of what is free, for all sets and their outputs
Reply = tuple[dict[str, Any], Sequence[Any]]


def complete(paths: list[str]) -> None:
    """Run the package's `__init__`, as any process outside the sandbox has."""
    package = sys.modules["pytest_kernelbenchx"]
    if hasattr(package, "__all__"):
        return
    sys.path += [path for path in paths if path not in sys.path]
    source = Path(package.__path__[0], "__init__.py")
    exec(compile(source.read_text("utf-8"), str(source), "exec"), package.__dict__)


class Timing:
    """One task in this process, and the candidate's entry point when there is one."""

    def __init__(self, runner: "Runner"):
        self.runner, self.device = runner, runner.device
        self.clock: Clock
        self.kept: list[Any] = []

    def answer(self, header: dict) -> Reply:
        try:
            with torch.no_grad():
                return getattr(self, header["do"])(header)
        except BaseException as error:  # sys.exit and KeyboardInterrupt are failures of a candidate like any other
            return {"error": failures.describe(error, "RUNTIME_ERROR", self.runner.file)}, ()

    def prepare(self, header: dict) -> Reply:
        self._begin(header)
        self.clock = _clock(self.device)
        floor = self.clock.floor()
        probe = self._arguments(PROBE)
        before = {name: copies(probe[name]) for name in self.task.mutates if name in probe}
        result, seconds = self._first(self.task.reference, probe)
        self.changed = [name for name, held in before.items() if not equal(held, probe[name])]
        given, made = size_of(list(probe.values())), size_of(result)
        del probe, result
        count = self._count(given, made)
        self.numbers = list(range(count))
        self.sets = [self._arguments(number) for number in self.numbers]
        reply = {
            "ok": True,
            "sets": count,
            "bytes": given + made,
            "floor": floor,
            "first": seconds,
            "l2": self.clock.l2,
        }
        return {**reply, "changed": self.changed}, ()

    def ready(self, header: dict) -> Reply:
        self.entry = self.runner.entry if header["candidate"] else self.task.reference
        _, seconds = self._first(self.entry, self._arguments(PROBE))
        return {"ok": True, "first": seconds}, ()

    def time(self, header: dict) -> Reply:
        self.clock.graphs = header["graphs"]
        reference, candidate = self._side(self.task.reference), self._side(self.entry)
        latencies = [latency(self.clock, side) for side in (reference, candidate)]
        renew = None if self.changed else self.renew
        timing = compare(self.clock, reference, candidate, Plan(budget=header["budget"]), renew)
        self.kept = candidate.kept
        kept = [self.numbers[index] for index, output in enumerate(self.kept) if output is not None]
        reply = {"ok": True, **asdict(timing), "latency": latencies, "kept": kept}
        clock = {"late": self.clock.late, "repeated": self.clock.repeated}
        return {**reply, **clock, "reused": not self.changed and shared(self.kept)}, ()

    def renew(self, index: int) -> None:
        """Other values in the same memory."""
        self.numbers[index] += AGAIN
        fresh = self._arguments(self.numbers[index])
        for old, new in zip(tensors(list(self.sets[index].values())), tensors(list(fresh.values())), strict=True):
            old.copy_(new)

    def sample(self, header: dict) -> Reply:
        """A call on fresh inputs stands for the timed one where calls change their inputs."""
        from pytest_kernelbenchx.judge.oracle import flatten

        number, groups = header["set"], {}
        if self.changed:
            arguments = self._arguments(number)
            groups["value"] = flatten(self._first(self.entry, arguments)[0])
            groups["changed"] = [arguments[name] for name in self.changed]
        else:
            groups["value"] = flatten(self.kept[number % AGAIN])
        if header["second"] is not None:
            torch.manual_seed(header["second"])
            groups["second"] = flatten(self._first(self.entry, self._arguments(number))[0])
        reply, buffers = describe(groups, header["seed"], header["whole"])
        return {"ok": True, **reply}, buffers

    def reference(self, header: dict) -> Reply:
        """What PyTorch gives, and the truth in double precision if it is asked for and the device has room for it."""
        self._begin(header)
        from pytest_kernelbenchx.judge.oracle import Expectation, copied, expect, flatten, run

        case, expected = self._case(header["set"]), None
        with contextlib.suppress(torch.OutOfMemoryError):  # eager values are the truth then
            expected = expect(self.task, case, self.device) if header["exact"] else None
        exact = expected is not None
        if expected is None:
            expected = Expectation(self._arguments(header["set"]))
            expected.eager, expected.changed_eager = run(self.task, copied(expected.arguments))
            expected.truth, expected.changed = expected.eager, expected.changed_eager
            expected.noise = [None] * len(expected.truth)
        groups = {"truth": expected.truth, "eager": expected.eager, "noise": list(expected.noise)}
        groups |= {"kept": expected.kept, "dropped": expected.dropped, "kept_eager": expected.kept_eager}
        groups |= {"changed": list(expected.changed.values()), "changed_eager": list(expected.changed_eager.values())}
        if header["arguments"]:
            groups |= {f"argument {name}": flatten(value) for name, value in expected.arguments.items()}
        reply, buffers = describe(groups, header["seed"], header["whole"])
        return {"ok": True, "exact": exact, "changing": list(expected.changed), **reply}, buffers

    def _begin(self, header: dict) -> None:
        """Load the task and set what the reference computes with: true float32, nothing else is comparable."""
        complete(header["paths"])
        from pytest_kernelbenchx.cases import Case
        from pytest_kernelbenchx.loading import load_task

        torch.backends.cudnn.allow_tf32 = False
        torch.backends.cuda.matmul.allow_tf32 = False
        file = self.runner.directory / "work" / "tasks" / header["category"] / f"{header['name']}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(header["source"], "utf-8")
        self.task = load_task(file)
        self.case, self.base = Case.from_json(header["case"]), header["base"]

    def _case(self, number: int) -> Any:
        return replace(self.case, seed=self.base + number)

    def _arguments(self, number: int) -> dict[str, Any]:
        from pytest_kernelbenchx.cases import build

        return build(self.task, self._case(number), self.device)

    def _count(self, given: int, made: int) -> int:
        """How many input sets: more than the cache holds, at least two, and no more than memory has room for."""
        wanted = min(SETS_MOST, max(2, math.ceil(CACHES * self.clock.l2 / max(given + made, 1)) + 1))
        free = torch.cuda.mem_get_info()[0] if self.device == "cuda" else 1 << 30
        return max(1, min(wanted, int(MEMORY_SHARE * free / max(given + 4 * made, 1))))  # either side keeps two outputs

    def _first(self, function: Callable[..., Any], arguments: dict[str, Any]) -> tuple[Any, float]:
        call = prepared(function, self.task, arguments)
        start = self.clock.now()
        result = call()
        self.clock.wait()
        return result, self.clock.now() - start

    def _side(self, function: Callable[..., Any]) -> Side:
        calls = [prepared(function, self.task, arguments) for arguments in self.sets]
        return Side(lambda number: calls[number](), len(calls))


def _clock(device: str) -> Any:
    if device == "cuda":
        from pytest_kernelbenchx.performance.cuda_clock import CudaClock

        return CudaClock()
    from pytest_kernelbenchx.performance.host_clock import HostClock

    return HostClock()
