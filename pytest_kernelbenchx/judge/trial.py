"""Stage two of a candidate: the task's examples, then the cases that Hypothesis draws, until one fails.

A case that the interpreter cannot run says nothing; the others are judged all the same, and their failures count.
"""

import hashlib
from typing import Any

from hypothesis import given
from hypothesis import seed as seeded
from hypothesis import settings as hypothesis_settings
from hypothesis.errors import Unsatisfiable
from torch import Tensor

from pytest_kernelbenchx.cases import Arguments, Case, from_example
from pytest_kernelbenchx.drawing import Budget, cases, kinds
from pytest_kernelbenchx.judge import messages
from pytest_kernelbenchx.judge.caller import Caller
from pytest_kernelbenchx.judge.explicit import QUIET, SLOW, flattened, in_layouts
from pytest_kernelbenchx.judge.judging import Reply, judge
from pytest_kernelbenchx.judge.oracle import Expectation, expect
from pytest_kernelbenchx.judge.verdicts import Outcome, OutcomeError, Verdict
from pytest_kernelbenchx.settings import CASES, Settings
from pytest_kernelbenchx.task import Task

BUDGETS = {"cpu": Budget(2**13, 2**22), "cuda": Budget(2**16, 2**26)}
CRASHES = 3  # after so many deaths of its process, a case that was not seen counts as passing: shrinking ends
SHRINKS = 60  # further runs to find a smaller failing case
LARGE, IDLE = 256, 0.9  # elements of an output that needs a kernel; share of such cases without one that is too much
COMPILING = 5  # times the limit of one call that a stage may take on a GPU, where kernels are compiled for every case
SMALL = 64  # elements of a failing example that needs no smaller one


class Trial:
    """The cases of one candidate. A case that was seen keeps its outcome."""

    def __init__(self, task: Task, caller: Caller, settings: Settings):
        self.task, self.caller, self.settings = task, caller, settings
        self._seen: dict[str, Outcome] = {}
        self._first_failure: Outcome | None = None
        self._deaths = self._after_failure = 0
        self._without = self._counted = 0
        self._left_out = False  # whether time ran out before some case

    @property
    def idle(self) -> bool:
        """Whether next to no case of some size launched a kernel of the candidate's own."""
        return self._counted > 0 and self._without > IDLE * self._counted

    @property
    def most(self) -> float:
        """Seconds that all calls together may take."""
        return self.caller.limit * (COMPILING if self.settings.device == "cuda" else 1)

    def run(self) -> Outcome:
        """The verdict over all cases; OutcomeError is the smallest failing one that was found."""
        try:
            return self._run()
        except OutcomeError as error:
            raise OutcomeError(self._of_layouts(self._flatter(error.outcome))) from None

    def _run(self) -> Outcome:
        examples = [from_example(self.task, number) for number in range(len(self.task.examples))]
        for case in [*examples, *in_layouts(self.task)]:
            try:
                self.check(case)
            except OutcomeError as error:
                raise self._smaller(case, error) from None
        self._draw()
        drawn = hashlib.sha256("\n".join(self._seen).encode()).hexdigest()[:16]
        facts = {"cases": len(self._seen), "cases_sha256": drawn, "without_kernel": [self._without, self._counted]}
        return self._unfailed({**facts, "launches": dict(self.caller.launches), "errors": self._worst()})

    def only(self, case: Case) -> Outcome:
        """The verdict on one case; OutcomeError if it fails."""
        self.check(case)
        return self._unfailed({"cases": 1, "only_case": case.to_json(), "errors": self._worst()})

    def check(self, case: Case) -> None:
        """Judge one case; OutcomeError if it fails."""
        key = case.to_json()
        if key not in self._seen:
            if self._enough():
                self._left_out |= self._first_failure is None
                return
            self._seen[key] = self._judged(case)
        outcome = self._seen[key]
        if outcome.passed or outcome.verdict is Verdict.NOT_JUDGED:
            return
        self._first_failure = self._first_failure or outcome
        if outcome.verdict is self._first_failure.verdict:
            raise OutcomeError(outcome)

    def _flatter(self, outcome: Outcome) -> Outcome:
        """The same failure on a tensor of one axis, the shortest of `BESIDE_BLOCKS` that shows it."""
        case = Case.from_json(outcome.facts["case"]) if "case" in outcome.facts else None
        if case is None or case.example is not None or self._deaths:
            return outcome
        for flat in flattened(self.task, case):
            try:
                found = self._judged(flat)
            except Exception:  # options, or other axes, may ask for the axes that are gone
                break
            if found.verdict is outcome.verdict:
                return found
        return outcome

    def _of_layouts(self, outcome: Outcome) -> Outcome:
        """The outcome, which says so where contiguous inputs gave right results and others did not."""
        case = Case.from_json(outcome.facts["case"]) if "case" in outcome.facts else None
        contiguous = [seen for key, seen in self._seen.items() if not Case.from_json(key).layouts]
        right = sum(seen.passed for seen in contiguous)
        if case is None or not case.layouts or not right or right < len(contiguous):
            return outcome
        reason = f"{outcome.reason}; all {right} cases with contiguous inputs are right"
        details = [line for line in outcome.details.splitlines() if not line.strip().startswith("hint:")]
        details.append("hint: inputs have the strides shown below: pass strides to the kernel, or use .contiguous()")
        facts = {**outcome.facts, "contiguous_right": right}
        return Outcome(outcome.verdict, reason, "\n".join(details), facts)

    def _unfailed(self, facts: dict[str, Any]) -> Outcome:
        """Nothing failed: PASSED, unless something was left open."""
        unjudged = [outcome for outcome in self._seen.values() if outcome.verdict is Verdict.NOT_JUDGED]
        if unjudged:
            first, some = unjudged[0], f"{len(unjudged)} of {len(self._seen)} cases could not be judged"
            return Outcome(Verdict.NOT_JUDGED, f"{some}, the others are right: {first.reason}", first.details, facts)
        if self._left_out:
            return self._ran_out(facts)
        return Outcome(Verdict.PASSED, facts=facts)

    def _ran_out(self, facts: dict[str, Any]) -> Outcome:
        wanted = len(self.task.examples) + CASES[self.settings.effort]
        reason = (
            f"{facts['cases']} of about {wanted} cases took {self.caller.spent:.0f} s, all right, "
            f"and the limit of {self.most:g} s is spent: raise it with --kbx-timeout, or lower --kbx-effort"
        )
        return Outcome(Verdict.NOT_JUDGED if self.settings.device == "cpu" else Verdict.TIMEOUT, reason, facts=facts)

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

    def _worst(self) -> dict[str, float]:
        found = [outcome.facts.get("errors") for outcome in self._seen.values()]
        return max((errors for errors in found if errors), key=lambda errors: errors["relative_rmse"], default={})

    def _draw(self) -> None:
        """Check the cases that Hypothesis draws; OutcomeError is the smallest failing one found."""

        def every_case(case: Case) -> None:
            self.check(case)

        every_kind = kinds(self.task)
        share = -(-CASES[self.settings.effort] // len(every_kind))
        for number, kind in enumerate(every_kind):
            decorate = hypothesis_settings(QUIET, max_examples=share)
            drawn = given(case=cases(self.task, BUDGETS[self.settings.device], kind))
            test = seeded(self.settings.seed + number)(decorate(drawn(every_case)))
            try:
                test()
            except Unsatisfiable as error:
                reason = f"the task's where= rejects every case: {error}"
                raise OutcomeError(Outcome(Verdict.INFRA_ERROR, reason)) from None

    def _enough(self) -> bool:
        """Whether to draw on without running: time is spent, or a failure is known and shrinking has had its share."""
        if self._first_failure is not None:
            self._after_failure += 1
            return self._after_failure > SHRINKS or self._deaths >= CRASHES or self.caller.spent > 2 * self.most
        return self.caller.spent > self.most

    def _judged(self, case: Case) -> Outcome:
        expected = expect(self.task, case)
        try:
            reply = self.caller.call(case, expected)
            outcome = judge(self.task, case, expected, reply)
            self._count(expected, reply)
        except OutcomeError as error:
            self._deaths += 1
            outcome = self._late(error.outcome, case)
        return outcome if outcome.passed else told(self.task, self.caller, outcome, case, expected.arguments)

    def _late(self, outcome: Outcome, case: Case) -> Outcome:
        """A large case may be slow in the interpreter alone, where smaller ones were right: that says nothing."""
        large = self.task.elements(case.axes) >= SLOW and any(seen.passed for seen in self._seen.values())
        if outcome.verdict is not Verdict.TIMEOUT or self.settings.device != "cpu" or not large:
            return outcome
        reason = (
            f"one call took longer than {self.caller.limit:g} s in the interpreter, where smaller ones were right: it "
            "may be slow here alone; judge it on a GPU, or raise --kbx-timeout"
        )
        return Outcome(Verdict.NOT_JUDGED, reason, outcome.details, outcome.facts)

    def _count(self, expected: Expectation, reply: Reply) -> None:
        """Keep count of cases that ask for work, and of those that were answered without a kernel."""
        made = sum(leaf.numel() for leaf in expected.eager if isinstance(leaf, Tensor))
        if made >= LARGE and reply.failure is None:
            self._counted += 1
            self._without += not reply.launches


def told(task: Task, caller: Caller, outcome: Outcome, case: Case, arguments: Arguments) -> Outcome:
    """The outcome, with the case that led to it and what the candidate printed."""
    facts = {**outcome.facts, "case": case.to_json(), "call": messages.call(task, arguments)}
    details = messages.with_output(outcome.details, caller.output)
    return Outcome(outcome.verdict, outcome.reason, details, facts)
