"""One candidate's way through the stages. What the `candidate` fixture hands to a test."""

import hashlib
import time
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, Phase, find, given
from hypothesis import seed as seeded
from hypothesis import settings as hypothesis_settings
from hypothesis.errors import NoSuchExample, Unsatisfiable

from pytest_kernelbenchx.candidate import Candidate
from pytest_kernelbenchx.cases import Arguments, Case, from_example
from pytest_kernelbenchx.drawing import Budget, cases
from pytest_kernelbenchx.judge import messages, policy, speed
from pytest_kernelbenchx.judge.caller import Caller
from pytest_kernelbenchx.judge.chosen import chosen_case
from pytest_kernelbenchx.judge.judging import judge
from pytest_kernelbenchx.judge.oracle import expect
from pytest_kernelbenchx.judge.verdicts import Outcome, OutcomeError, Verdict
from pytest_kernelbenchx.performance.measurement import Measurement
from pytest_kernelbenchx.sandbox.host import SandboxError
from pytest_kernelbenchx.settings import CASES, STAGES
from pytest_kernelbenchx.task import Task

if TYPE_CHECKING:
    from pytest_kernelbenchx.laboratory import Laboratory

BUDGETS = {"cpu": Budget(2**14, 2**22), "cuda": Budget(2**16, 2**26)}
CRASHES = 3  # after so many deaths of its process, a case that was not seen counts as passing: shrinking ends
SHRINKS = 60  # further runs to find a smaller failing case
SMALL = 64  # elements of a failing example that needs no smaller one
PHASES = (Phase.generate, Phase.shrink)


class Evaluation:
    """A candidate and what is known of it. Stages run once; asking again gives the same outcome.

    Attributes:
        task: the task.
        candidate: the source and where it came from.
        outcomes: outcome by stage (for `performs`, by `performs:<size>`), of the stages that ran.
        measurements: times by size, of the sizes that were passed.
    """

    def __init__(self, task: Task, candidate: Candidate, laboratory: "Laboratory"):
        self.task, self.candidate, self.laboratory = task, candidate, laboratory
        self.outcomes: dict[str, Outcome] = {}
        self.measurements: dict[str, Measurement] = {}
        self.unsent: list[dict[str, Any]] = []
        self.caller = Caller(task, candidate, laboratory.sandbox, laboratory.lease)
        self._seen: dict[str, Outcome] = {}
        self._first_failure: Outcome | None = None
        self._deaths = self._after_failure = 0

    def compiles(self) -> None:
        """Stage one; fails the running test with the verdict if the candidate does not pass."""
        self._end("compiles")

    def correct(self) -> None:
        """Stage two."""
        self._end("correct")

    def performs(self, size: str) -> None:
        """Stage three at one of the task's sizes."""
        self._end("performs", size)

    def outcome(self, stage: str, size: str | None = None) -> Outcome:
        """The outcome of a stage; it runs, after those before it, and is recorded if that has not happened."""
        key = f"{stage}:{size}" if size else stage
        if key not in self.outcomes:
            obstacle = self._obstacle(stage)
            start = time.perf_counter()
            outcome = Outcome(Verdict.SKIPPED, obstacle) if obstacle else self._run(stage, size)
            self.outcomes[key] = outcome
            self.unsent.append(self.laboratory.record(self, stage, size, outcome, time.perf_counter() - start))
        return self.outcomes[key]

    def _obstacle(self, stage: str) -> str | None:
        """Why a stage can't run, if it can't."""
        if stage == "performs" and self.laboratory.settings.device == "cpu":
            return speed.NEEDS_GPU
        for earlier in STAGES[: STAGES.index(stage)]:
            if not (outcome := self.outcome(earlier)).passed:
                return f"stage {earlier} was not passed: {outcome.verdict.name}"
        return None

    def _end(self, stage: str, size: str | None = None) -> None:
        """End the running test as the stage's verdict wants it."""
        outcome = self.outcome(stage, size)
        if outcome.verdict is Verdict.SKIPPED:
            pytest.skip(outcome.reason)
        if outcome.verdict is Verdict.NOT_JUDGED:
            pytest.skip(f"{outcome.verdict.name}: {messages.sentence(outcome.reason)}")
        if not outcome.passed:
            pytest.fail(messages.failure(self, stage, outcome, size), pytrace=False)

    def _run(self, stage: str, size: str | None) -> Outcome:
        self.caller.start(self.laboratory.settings.timeouts[stage])
        try:
            if size is not None:
                return self._performs(size)
            return self._compiles() if stage == "compiles" else self._correct()
        except OutcomeError as error:
            return error.outcome
        except SandboxError as error:
            return Outcome(Verdict.INFRA_ERROR, str(error))
        except Exception as error:
            return Outcome(Verdict.INFRA_ERROR, f"the judge failed: {type(error).__name__}: {error}", messages.trace())

    def _performs(self, size: str) -> Outcome:
        self.caller.close()  # its process has had its day: a fresh one is timed
        outcome, measurement = speed.performs(self.task, size, self.candidate, self.laboratory)
        if measurement is not None:
            self.measurements[size] = measurement
        return outcome

    def _compiles(self) -> Outcome:
        if self.candidate.problem:
            return Outcome(Verdict.SYNTAX, self.candidate.problem)
        tree = policy.parse(self.candidate.source)
        if isinstance(tree, Outcome):
            return tree
        if forbidden := policy.examine(tree, self.candidate.source, self.task.forbid):
            return forbidden
        self.caller.load()
        for case in first_cases(self.task):
            failure = self._failure(case)
            if failure is not None:
                return failure
        if not self.caller.launches:
            return self._without_kernel(policy.asks_for_gpu(tree))
        return Outcome(Verdict.PASSED, facts={"kernels": sorted(self.caller.launches)})

    def _without_kernel(self, line: int | None) -> Outcome:
        what = "the call returned, and launched no Triton kernel of the candidate's own"
        if self.laboratory.settings.device == "cpu" and line is not None:
            reason = f"{what}; line {line} looks for a GPU, so it may take another path on one: judge it on a GPU"
            return Outcome(Verdict.NOT_JUDGED, reason)
        return Outcome(Verdict.NO_KERNEL, what)

    def _failure(self, case: Case) -> Outcome | None:
        """What went wrong in the call of a case, whatever it returned."""
        expected = expect(self.task, case)
        try:
            failure = self.caller.call(case, expected).failure
        except OutcomeError as error:
            failure = error.outcome
        return None if failure is None else self._told(failure, case, expected.arguments)

    def _told(self, outcome: Outcome, case: Case, arguments: Arguments) -> Outcome:
        """The outcome, with the case that led to it and what the candidate printed."""
        facts = {**outcome.facts, "case": case.to_json(), "call": messages.call(self.task, arguments)}
        details = messages.with_output(outcome.details, self.caller.output)
        return Outcome(outcome.verdict, outcome.reason, details, facts)

    def _correct(self) -> Outcome:
        if self.laboratory.settings.case is not None:
            try:
                case = chosen_case(self.task, self.laboratory.settings.case)
            except ValueError as error:
                return Outcome(Verdict.INFRA_ERROR, f"--kbx-case does not fit the task: {error}")
            self.check(case)
            return Outcome(Verdict.PASSED, facts={"cases": 1, "errors": self._worst()})
        for number in range(len(self.task.examples)):
            case = from_example(self.task, number)
            try:
                self.check(case)
            except OutcomeError as error:
                raise self._smaller(case, error) from None
        self._draw()
        drawn = hashlib.sha256("\n".join(self._seen).encode()).hexdigest()[:16]
        facts = {"cases": len(self._seen), "cases_sha256": drawn}
        facts |= {"launches": dict(self.caller.launches), "errors": self._worst()}
        if self.caller.spent > self.caller.limit:
            return self._ran_out(facts)
        return Outcome(Verdict.PASSED, facts=facts)

    def _smaller(self, example: Case, failure: OutcomeError) -> OutcomeError:
        """The same failure on a drawn case, where an example failed that is too large to look at and one is found."""
        size = self.task.elements(example.axes)
        if size > SMALL and not self._deaths:
            try:
                self._draw()
            except OutcomeError as drawn:
                case = drawn.outcome.facts.get("case")
                if case and self.task.elements(Case.from_json(case).axes) < size:
                    return drawn
        return failure

    def _ran_out(self, facts: dict[str, Any]) -> Outcome:
        wanted = len(self.task.examples) + CASES[self.laboratory.settings.effort]
        reason = (
            f"{facts['cases']} of about {wanted} cases took {self.caller.spent:.0f} s, all right, "
            f"and the limit of {self.caller.limit:g} s is spent: raise it with --kbx-timeout, or lower --kbx-effort"
        )
        interpreted = self.laboratory.settings.device == "cpu"
        return Outcome(Verdict.NOT_JUDGED if interpreted else Verdict.TIMEOUT, reason, facts=facts)

    def _worst(self) -> dict[str, float]:
        found = [outcome.facts.get("errors") for outcome in self._seen.values()]
        return max((errors for errors in found if errors), key=lambda errors: errors["relative_rmse"], default={})

    def _draw(self) -> None:
        """Check the cases that Hypothesis draws; OutcomeError is the smallest failing one found."""
        settings = self.laboratory.settings
        decorate = hypothesis_settings(
            max_examples=CASES[settings.effort],
            deadline=None,
            database=None,
            phases=PHASES,
            print_blob=False,
            report_multiple_bugs=False,
            suppress_health_check=list(HealthCheck),
        )

        def every_case(case: Case) -> None:
            self.check(case)

        test = decorate(given(case=cases(self.task, BUDGETS[settings.device]))(every_case))
        if settings.seed is not None:
            test = seeded(settings.seed)(test)
        try:
            test()
        except Unsatisfiable as error:
            raise OutcomeError(Outcome(Verdict.INFRA_ERROR, f"the task's where= rejects every case: {error}")) from None

    def check(self, case: Case) -> None:
        """Judge one case; OutcomeError if it is not passed. A case that was seen keeps its outcome."""
        key = case.to_json()
        if key not in self._seen:
            if self._enough():
                return
            self._seen[key] = self._judged(case)
        outcome = self._seen[key]
        if outcome.passed:
            return
        self._first_failure = self._first_failure or outcome
        if outcome.verdict is self._first_failure.verdict:
            raise OutcomeError(outcome)

    def _enough(self) -> bool:
        """Whether to draw on without running: time is spent, or a failure is known and shrinking has had its share."""
        if self._first_failure is not None:
            self._after_failure += 1
            return self._after_failure > SHRINKS or self._deaths >= CRASHES or self.caller.spent > 2 * self.caller.limit
        return self.caller.spent > self.caller.limit

    def _judged(self, case: Case) -> Outcome:
        expected = expect(self.task, case)
        try:
            outcome = judge(self.task, case, expected, self.caller.call(case, expected))
        except OutcomeError as error:
            self._deaths += 1
            outcome = error.outcome
        if outcome.passed:
            return outcome
        return self._told(outcome, case, expected.arguments)

    def close(self) -> None:
        """Kill the candidate's process."""
        self.caller.close()


def first_cases(task: Task) -> list[Case]:
    """The calls of stage one: the first and the last example with something to do, or else the simplest drawn case."""
    usable = [n for n, example in enumerate(task.examples) if "raises" not in example]
    made = [from_example(task, n) for n in usable]
    filled = [case for case in made if _elements(task, case)]
    return filled[:1] + filled[-1:] if filled else [simplest(task)]


def simplest(task: Task) -> Case:
    """The smallest case with something to do that Hypothesis finds for a task."""
    quiet = hypothesis_settings(database=None, deadline=None, suppress_health_check=list(HealthCheck))
    try:
        return find(cases(task), lambda case: bool(_elements(task, case)), settings=quiet, random=Random(0))
    except (NoSuchExample, Unsatisfiable):
        reason = "no case can be drawn for the task: its where= or axes= leave none, or only empty tensors"
        raise OutcomeError(Outcome(Verdict.INFRA_ERROR, reason)) from None


def _elements(task: Task, case: Case) -> int:
    return 0 if 0 in _flat(case.axes.values()) else 1


def _flat(values: Any) -> list[int]:
    return [n for value in values for n in (value if isinstance(value, list) else [value])]
