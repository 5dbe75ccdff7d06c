"""The judge's end of a timing process: what is asked, in which order, and the checks on what is answered.

What comes before the candidate is imported can be trusted, and a failure there is none of the candidate's. Of the rest
only times and outputs are taken, and checked.
"""

import math
import secrets
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from pytest_kernelbenchx.candidate import Candidate
from pytest_kernelbenchx.candidates import entry_names
from pytest_kernelbenchx.cases import Case
from pytest_kernelbenchx.judge.verdicts import Outcome, OutcomeError, Verdict
from pytest_kernelbenchx.sandbox.answer import refused
from pytest_kernelbenchx.sandbox.host import Sandbox
from pytest_kernelbenchx.sandbox.process import Died
from pytest_kernelbenchx.sandbox.samples import AGAIN, PROBE, Samples
from pytest_kernelbenchx.sandbox.wire import PAYLOAD_LIMIT, ProtocolError, as_list, natural, text
from pytest_kernelbenchx.task import Task

NEEDED = ("hypothesis", "sortedcontainers", "attr")  # what the package imports beyond torch, triton and numpy
BLOCKS, LONGEST = 1000, 1e4
REFERENCE_LIMIT = 1 << 31
STOPS, MODES = ("precise", "blocks", "budget"), ("graph", "events")


@dataclass
class Prepared:
    """What is known before the candidate is imported.

    Attributes:
        sets: how many input sets there are. bytes: of one set and the outputs on it.
        floor: seconds of the smallest launch. first: seconds of the reference's first call.
        changed: inputs that the operation changes at this size.
    """

    sets: int
    bytes: int
    floor: float
    first: float
    changed: list[str]


@dataclass
class Report:
    """The answer to `time`; see `performance.timing.Timing`.

    Attributes:
        latency: host seconds of an eager call of the reference and of the candidate.
        kept: numbers of the sets of which an output of a timed call is at hand; see `sandbox.samples.AGAIN`.
        reused: whether outputs of different calls share memory.
        late, repeated: see `performance.clock.Clock`.
    """

    reference: list[float]
    candidate: list[float]
    mode: str
    calls: int
    stopped: str
    why: str
    warm: float
    stable: bool
    latency: list[float]
    kept: list[int]
    reused: bool
    late: int
    repeated: int

    @classmethod
    def of(cls, header: dict, sets: int) -> "Report":
        """Raises ProtocolError."""
        reference, candidate = (_times(header.get(name), name) for name in ("reference", "candidate"))
        latency = _times(header.get("latency"), "latency")
        if len(reference) != len(candidate) or len(latency) != 2:
            raise ProtocolError("the two sides have not as many times")
        return cls(
            reference=reference,
            candidate=candidate,
            mode=_one_of(header, "mode", MODES),
            calls=max(1, natural(header.get("calls"), "calls", 1 << 20)),
            stopped=_one_of(header, "stopped", STOPS),
            why=text(header.get("why"), "why", 300),
            warm=_seconds(header.get("warm"), "warm"),
            stable=header.get("stable") is True,
            latency=latency,
            kept=[_number(number, sets) for number in as_list(header.get("kept"), "kept", sets)],
            reused=header.get("reused") is True,
            late=natural(header.get("late"), "late", 1 << 20),
            repeated=natural(header.get("repeated"), "repeated", 1 << 20),
        )


def _number(value: Any, sets: int) -> int:
    number = natural(value, "kept", PROBE - 1)
    natural(number % AGAIN, "kept", sets - 1)
    return number


def _seconds(value: Any, what: str) -> float:
    if type(value) is not float or not 0 <= value <= LONGEST or math.isnan(value):
        raise ProtocolError(f"{what} is no number of seconds")
    return value


def _times(value: Any, what: str) -> list[float]:
    times = [_seconds(item, what) for item in as_list(value, what, BLOCKS)]
    if not times or min(times) <= 0:
        raise ProtocolError(f"{what} has no times, or one of 0 s")
    return times


def _one_of(header: dict, key: str, allowed: tuple[str, ...]) -> str:
    if header.get(key) not in allowed:
        raise ProtocolError(f"{key} is none of {', '.join(allowed)}")
    return header[key]


class Process:
    """A process that times one size of one task, or gives what the reference makes of it.

    Every method raises OutcomeError: with the candidate's verdict once it is loaded, else with INFRA_ERROR.
    """

    def __init__(self, task: Task, case: Case, base: int, sandbox: Sandbox, timeout: float):
        self.task, self.case, self.base, self.timeout = task, case, base, timeout
        self.child, self.loaded = sandbox.child(), False

    def prepare(self) -> Prepared:
        header, _ = self._ask("preparing the inputs", {"do": "prepare", **self._task()})
        names = [text(name, "changed", 200) for name in header["changed"]]
        return Prepared(header["sets"], header["bytes"], header["floor"], header["first"], names)

    def load(self, candidate: Candidate) -> None:
        self.loaded = True
        entries = entry_names(candidate, self.task.name, self.task.aliases)
        answer = self.child.load(f"{self.task.name}.py", candidate.source, entries, timeout=self.timeout)
        if answer.outcome is not None:
            raise OutcomeError(answer.outcome)

    def ready(self) -> float:
        """Run the candidate (the reference, where none is loaded) once; seconds that took, compilation included."""
        header, _ = self._ask("the first call", {"do": "ready", "candidate": self.loaded})
        return self._checked(lambda: _seconds(header.get("first"), "first"))

    def time(self, sets: int, graphs: bool, budget: float) -> Report:
        """Measure for about `budget` seconds, with or without trying graphs."""
        header, _ = self._ask("the timed calls", {"do": "time", "graphs": graphs, "budget": budget})
        return self._checked(lambda: Report.of(header, sets))

    def sample(self, number: int, seed: int, whole: int, second: int | None, changed: int) -> Samples:
        """Elements of the output on a set, and of `changed` inputs after the call; `second`: see `timed`."""
        question = {"do": "sample", "set": number, "seed": seed, "whole": whole, "second": second}
        header, payload = self._ask("reading the outputs", question)

        def read() -> Samples:
            samples = Samples(header, payload, seed, whole, PAYLOAD_LIMIT)
            wanted = {"value", *(["changed"] if changed else []), *(["second"] if second is not None else [])}
            if set(samples.groups) != wanted or len(samples.groups.get("changed", [])) != changed:
                raise ProtocolError("the outputs that came are not those that were asked for")
            return samples

        return self._checked(read)

    def reference(
        self, number: int, seed: int, whole: int, *, exact: bool, arguments: bool
    ) -> tuple[Samples, bool, list[str]]:
        """Samples of what is expected, whether the truth is exact, and the inputs that the operation may change.

        Args:
            exact: whether the truth is wanted in double precision.
            arguments: whether the inputs are wanted, too.
        """
        question = {"do": "reference", "set": number, "seed": seed, "whole": whole}
        question |= {"exact": exact, "arguments": arguments}
        header, payload = self._ask("the reference", {**question, **self._task()}, REFERENCE_LIMIT)
        samples = self._checked(lambda: Samples(header, payload, seed, whole, REFERENCE_LIMIT))
        return samples, header["exact"], header["changing"]

    def kill(self) -> None:
        self.child.kill()

    def _task(self) -> dict[str, Any]:
        source = Path(self.task.path).read_text("utf-8")
        task = {"name": self.task.name, "category": self.task.category or "task", "source": source}
        return {**task, "case": self.case.to_json(), "base": self.base, "paths": paths()}

    def _ask(self, doing: str, header: dict, limit: int = PAYLOAD_LIMIT) -> tuple[dict, bytearray]:
        try:
            answer, payload = self.child.put(doing, header, self.timeout, limit)
        except Died as death:
            raise OutcomeError(self._blamed(death.outcome, doing)) from None
        failure = self._checked(lambda: refused(answer))
        if failure is not None:
            raise OutcomeError(self._blamed(failure, doing))
        return answer, payload

    def _blamed(self, outcome: Outcome, doing: str) -> Outcome:
        if self.loaded:
            return outcome
        reason = f"without any candidate, {doing} failed ({outcome.verdict.name}): {outcome.reason}"
        return Outcome(Verdict.INFRA_ERROR, reason, outcome.details)

    def _checked(self, read: Any) -> Any:
        try:
            return read()
        except ProtocolError as error:
            try:
                self.child.tampered(error)
            except Died as death:
                raise OutcomeError(self._blamed(death.outcome, "an answer")) from None


def paths() -> list[str]:
    """Where the packages are that task files need."""
    found = [find_spec(name) for name in NEEDED]
    return list(dict.fromkeys(str(Path(spec.origin).parents[1]) for spec in found if spec and spec.origin))


def unpredictable() -> int:
    return secrets.randbelow(1 << 40)
