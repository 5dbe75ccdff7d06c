"""One candidate's way through the stages. What the `candidate` fixture hands to a test."""

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from pytest_kernelbenchx.candidate import Candidate, entry_names
from pytest_kernelbenchx.cases import Case
from pytest_kernelbenchx.judge import messages, policy, speed
from pytest_kernelbenchx.judge.caller import Caller
from pytest_kernelbenchx.judge.chosen import chosen_case
from pytest_kernelbenchx.judge.delegation import audited
from pytest_kernelbenchx.judge.dependence import judge_dependence
from pytest_kernelbenchx.judge.explicit import first_cases, small_examples
from pytest_kernelbenchx.judge.freshness import explained
from pytest_kernelbenchx.judge.oracle import expect
from pytest_kernelbenchx.judge.steadiness import judge_steadiness
from pytest_kernelbenchx.judge.trial import Trial, told
from pytest_kernelbenchx.judge.verdicts import Outcome, OutcomeError, Verdict
from pytest_kernelbenchx.performance.measurement import Measurement
from pytest_kernelbenchx.sandbox.host import SandboxError
from pytest_kernelbenchx.settings import STAGES
from pytest_kernelbenchx.task import Task

if TYPE_CHECKING:
    from pytest_kernelbenchx.laboratory import Laboratory


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
        self.examination: policy.Examination | None = None
        self.unsent: list[dict[str, Any]] = []
        self.caller = Caller(task, candidate, laboratory.sandbox, laboratory.lease)
        self.trial = Trial(task, self.caller, laboratory.settings)

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
            outcome = Outcome(Verdict.SKIPPED, obstacle) if obstacle else self._explained(self._run(stage, size), stage)
            self.outcomes[key] = outcome
            self.unsent.append(self.laboratory.record(self, stage, size, outcome, time.perf_counter() - start))
        return self.outcomes[key]

    def _explained(self, outcome: Outcome, stage: str) -> Outcome:
        """The outcome with what the policy has to say of it, and in stage one with all that it found."""
        if self.examination is None:
            return outcome
        outcome = self.examination.explained(outcome)
        return replace(outcome, facts={**outcome.facts, **self.examination.facts}) if stage == STAGES[0] else outcome

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
        names = entry_names(self.candidate, self.task.name, self.task.aliases)
        seen = policy.examine(tree, self.candidate.source, self.task.forbid, names)
        if isinstance(seen, Outcome):
            return seen
        self.examination = seen
        if seen.outcome:
            return seen.outcome
        self.caller.load()
        if library := seen.imported():
            return library
        for case in first_cases(self.task):
            failure = self._failure(case)
            if failure is not None:
                return failure
        if not self._launches():
            return self._without_kernel("the call")
        return Outcome(Verdict.PASSED, facts={"kernels": sorted(self.caller.launches)})

    def _launches(self) -> bool:
        """Whether a kernel was launched, if need be by another example: some options alone may ask for one."""
        for case in small_examples(self.task):
            if self.caller.launches:
                break
            self._failure(case)
        return bool(self.caller.launches)

    def _without_kernel(self, where: str) -> Outcome:
        tree = policy.parse(self.candidate.source)
        line = None if isinstance(tree, Outcome) else policy.asks_for_gpu(tree)
        what = f"{where} returned without launching a Triton kernel of the candidate's own"
        interpreted = self.laboratory.settings.device == "cpu"
        limit = next((text for text in self.caller.raised if text.startswith("NOT_JUDGED: ")), None)
        if interpreted and limit:
            return Outcome(Verdict.NOT_JUDGED, f"a launch failed: {limit.removeprefix('NOT_JUDGED: ')}")
        if interpreted and line is not None and not self.caller.raised:
            reason = f"{what}; line {line} looks for a GPU, so it may take another path on one: judge it on a GPU"
            return Outcome(Verdict.NOT_JUDGED, reason)
        wanted = "wanted a function under @triton.jit in this file, launched as kernel[grid](...)"
        if self.caller.raised:
            wanted = f"every launch failed ({', '.join(self.caller.raised)}), and the candidate went on without"
        return Outcome(Verdict.NO_KERNEL, f"{what}; {wanted}")

    def _failure(self, case: Case) -> Outcome | None:
        """What went wrong in the call of a case, whatever it returned."""
        expected = expect(self.task, case)
        try:
            failure = self.caller.call(case, expected).failure
        except OutcomeError as error:
            failure = error.outcome
        return None if failure is None else told(self.task, self.caller.output, failure, case, expected.arguments)

    def _correct(self) -> Outcome:
        text = self.laboratory.settings.case
        if text is None:
            outcome = self._tried()
            idle = outcome.passed and self.trial.idle
            if idle:
                return self._without_kernel("every call of some size")
            return outcome if not outcome.passed else self._steady() or self._audited(outcome)
        try:
            return self.trial.only(chosen_case(self.task, text))
        except (OutcomeError, SandboxError):
            raise
        except Exception as error:
            return Outcome(Verdict.INFRA_ERROR, f"--kbx-case does not fit the task: {error}")

    def _tried(self) -> Outcome:
        try:
            return self.trial.run()
        except OutcomeError as error:
            raise OutcomeError(explained(self.task, self.caller, error.outcome)) from None

    def _audited(self, outcome: Outcome) -> Outcome:
        forbid = self.laboratory.settings.delegation == "forbid"
        return audited(self.task, self.caller, self.trial.passed(), outcome, forbid)

    def _steady(self) -> Outcome | None:
        passed = self.trial.passed()
        return judge_steadiness(self.task, self.caller, passed) or judge_dependence(self.task, self.caller, passed)

    def check(self, case: Case) -> None:
        """Judge one case; OutcomeError if it is not passed. A case that was seen keeps its outcome."""
        self.trial.check(case)

    def close(self) -> None:
        """Kill the candidate's processes, and remove what they have compiled."""
        self.caller.forget()
