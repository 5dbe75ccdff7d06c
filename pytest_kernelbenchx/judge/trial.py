"""Stage two of a candidate: the task's examples, then the cases that Hypothesis draws, until one fails.

A case that the interpreter cannot run says nothing; the others are judged all the same, and their failures count.
"""

import hashlib
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from hypothesis import reject
from torch import Tensor

from pytest_kernelbenchx.cases import Arguments, Case, from_example
from pytest_kernelbenchx.judge import messages
from pytest_kernelbenchx.judge.ahead import Several
from pytest_kernelbenchx.judge.caller import Caller
from pytest_kernelbenchx.judge.chance import pooled
from pytest_kernelbenchx.judge.explicit import SLOW, in_layouts
from pytest_kernelbenchx.judge.judging import Reply, judge
from pytest_kernelbenchx.judge.oracle import Expectation, expect
from pytest_kernelbenchx.judge.reducing import SMALL, Reduction
from pytest_kernelbenchx.judge.sharing import draw
from pytest_kernelbenchx.judge.tally import Tally
from pytest_kernelbenchx.judge.verdicts import Outcome, OutcomeError, Verdict
from pytest_kernelbenchx.settings import CASES, Settings
from pytest_kernelbenchx.task import Task

CRASHES = 3  # after so many deaths of its process, a case that was not seen counts as passing: shrinking ends
DRAWN_SHRINKS = 40  # further runs that Hypothesis has to find a smaller failing case
LARGE, IDLE = 256, 0.9  # elements of an output that needs a kernel; share of such cases without one that is too much
COMPILING = 5  # times the limit of one call that a stage may take on a GPU, where kernels are compiled for every case
DEAR = 0.25  # of the time of a stage: a large case that may take longer is not tried


class Trial:
    """The cases of one candidate. A case that was seen keeps its outcome."""

    def __init__(self, task: Task, caller: Caller, settings: Settings):
        self.task, self.caller, self.settings = task, caller, settings
        self.seen: dict[str, Outcome] = {}
        self._ahead: dict[str, Outcome] = {}  # of cases that were judged before their turn
        self.first_failure: Outcome | None = None
        self.tally = Tally()
        self.deaths = self._without = self._counted = 0
        self._left_out = False  # whether time ran out before some case

    def passed(self) -> list[Case]:
        """The cases that were right."""
        return [Case.from_json(key) for key, outcome in self.seen.items() if outcome.passed]

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
            raise OutcomeError(Reduction(self).of(error.outcome)) from None

    def _run(self) -> Outcome:
        if self.settings.processes == 1 or not self._together():
            self._alone()
        drawn = hashlib.sha256("\n".join(self.seen).encode()).hexdigest()[:16]
        facts = {"cases_sha256": drawn, "without_kernel": [self._without, self._counted], **self.counts()}
        return self._unfailed({**facts, "launches": dict(self.caller.launches), "errors": self._worst()})

    def _chosen(self) -> list[Case]:
        """The cases that are not drawn."""
        examples = [from_example(self.task, number) for number in range(len(self.task.examples))]
        return [*examples, *in_layouts(self.task)]

    def _alone(self) -> None:
        """One process answers case by case; OutcomeError is the smallest failure found."""
        for case in self._chosen():
            try:
                self.check(case)
            except OutcomeError as error:
                raise self._smaller(case, error) from None
        self._draw(self._check_new)

    def _together(self) -> bool:
        """Judge the cases in several processes. False where one fails or time runs out: then one process goes through
        them again, takes the outcomes that are known, and looks for a smaller failure.
        """
        start = time.perf_counter()
        with Several(self.caller, self.settings.processes) as several:
            planned = self._planned()
            for asked in several.answers(planned, self._expected):
                outcome = self._weighed(asked.case, asked.expected, asked.reply, lambda: asked.caller.output)  # noqa: B023
                unfailed = outcome.passed or outcome.verdict is Verdict.NOT_JUDGED
                if outcome.verdict is Verdict.OUT_OF_MEMORY:  # the others may have taken it: see what one alone needs
                    self.deaths = 0
                    break
                self._ahead[asked.case.to_json()] = outcome
                if not unfailed or time.perf_counter() - start > self.most:
                    break
        self.caller.spent = time.perf_counter() - start
        if len(self._ahead) == len(planned) and unfailed:
            self.seen, self._ahead = self._ahead, {}
            return True
        self.tally.rejected = 0  # the cases will be drawn once more
        return False

    def _planned(self) -> list[Case]:
        """Every case in the order in which it will be checked, as long as none fails."""
        planned = {case.to_json(): case for case in self._chosen()}

        def plan(case: Case) -> None:
            if case.to_json() in planned:
                reject()
            planned[case.to_json()] = case

        self._draw(plan)
        return list(planned.values())

    def only(self, case: Case) -> Outcome:
        """The verdict on one case; OutcomeError if it fails."""
        try:
            self.check(case)
        except OutcomeError as error:
            outcome = Reduction(self).hinted(error.outcome)
            facts = {**outcome.facts, "only_case": case.to_json()}
            raise OutcomeError(Outcome(outcome.verdict, outcome.reason, outcome.details, facts)) from None
        return self._unfailed({**self.counts(), "only_case": case.to_json(), "errors": self._worst()})

    def check(self, case: Case) -> None:
        """Judge one case; OutcomeError if it fails."""
        key = case.to_json()
        if key in self._ahead:
            self.seen[key] = self._ahead.pop(key)
        if key not in self.seen:
            if self._enough():
                self._left_out |= self.first_failure is None
                return
            self.seen[key] = self.judged(case)
        outcome = self.seen[key]
        if outcome.passed or outcome.verdict is Verdict.NOT_JUDGED:
            return
        self.first_failure = self.first_failure or outcome
        if outcome.verdict is self.first_failure.verdict:
            raise OutcomeError(outcome)

    def counts(self) -> dict[str, Any]:
        """What a record says of the cases, whatever the verdict."""
        return {"cases": len(self.seen), **self.tally.facts()}

    def _unfailed(self, facts: dict[str, Any]) -> Outcome:
        """No case failed: PASSED, unless something is wrong with all of them together, or was left open."""
        if reason := pooled(mask for outcome in self.seen.values() for mask in outcome.facts.get("masks", ())):
            return Outcome(Verdict.WRONG_VALUES, reason, facts=facts)
        unjudged = [outcome for outcome in self.seen.values() if outcome.verdict is Verdict.NOT_JUDGED]
        if unjudged:
            first, some = unjudged[0], f"{len(unjudged)} of {len(self.seen)} cases could not be judged"
            return Outcome(Verdict.NOT_JUDGED, f"{some}, the others are right: {first.reason}", first.details, facts)
        if self._left_out:
            return self._ran_out(facts)
        return Outcome(Verdict.PASSED, facts=facts)

    def _ran_out(self, facts: dict[str, Any]) -> Outcome:
        wanted = len(self._chosen()) + CASES[self.settings.effort]
        reason = (
            f"{facts['cases']} of about {wanted} cases took {self.caller.spent:.0f} s, all right, "
            f"and the limit of {self.most:g} s is spent: raise it with --kbx-timeout, or lower --kbx-effort"
        )
        return Outcome(Verdict.NOT_JUDGED if self.settings.device == "cpu" else Verdict.TIMEOUT, reason, facts=facts)

    def _smaller(self, example: Case, failure: OutcomeError) -> OutcomeError:
        """The same failure on a drawn case, where an example failed that is too large to look at and one is found."""
        size = self.task.elements(example.axes)
        if size > SMALL and not self.deaths:
            try:
                self._draw(self._check_new)
            except OutcomeError as drawn:
                case = drawn.outcome.facts.get("case")
                if case and self.task.elements(Case.from_json(case).axes) < size:
                    return drawn
        return failure

    def _worst(self) -> dict[str, float]:
        """Errors of the worst case; none where chance has a say in what is right."""
        if self.task.random is not None:
            return {}
        found = [outcome.facts.get("errors") for outcome in self.seen.values()]
        return max((errors for errors in found if errors), key=lambda errors: errors["relative_rmse"], default={})

    def _draw(self, every_case: Callable[[Case], None]) -> None:
        """Hand on the cases that Hypothesis draws; where that raises OutcomeError, it is of the smallest one found."""
        draw(self.task, self.settings, every_case, rejected=self.tally.reject, dear=self._dear)

    def _check_new(self, case: Case) -> None:
        if self.first_failure is None and case.to_json() in self.seen:
            reject()  # drawn before: it is none of those that were asked for
        self.check(case)

    def _dear(self, elements: int) -> bool:
        """Whether a case of so many elements may take long, by what the others took."""
        return self.caller.spent / max(1, self.tally.elements) * elements > DEAR * self.most

    def _enough(self) -> bool:
        """Whether to draw on without running: time is spent, or a failure is known and shrinking has had its share."""
        if self.first_failure is not None:
            runs = self.tally.after_failure
            return runs >= DRAWN_SHRINKS or self.deaths >= CRASHES or self.caller.spent > 2 * self.most
        return self.caller.spent > self.most

    def judged(self, case: Case) -> Outcome:
        """The outcome of one case, whether it was seen or not."""
        expected = self._expected(case)
        return self._weighed(case, expected, partial(self.caller.call, case, expected), lambda: self.caller.output)

    def _expected(self, case: Case) -> Expectation:
        with self.tally.spent("reference"):
            return expect(self.task, case)

    def _weighed(
        self, case: Case, expected: Expectation, answer: Callable[[], Reply], output: Callable[[], str]
    ) -> Outcome:
        """The outcome of a case from what the candidate answers or raises, and what it has printed."""
        self.tally.count(case, self.task.elements(case.axes), self.first_failure is not None)
        try:
            with self.tally.spent("candidate"):
                reply = answer()
            with self.tally.spent("judge"):
                outcome = judge(self.task, case, expected, reply)
            self._count(expected, reply)
        except OutcomeError as error:
            self.deaths += 1
            outcome = self._late(error.outcome, case)
        return outcome if outcome.passed else told(self.task, output(), outcome, case, expected.arguments)

    def _late(self, outcome: Outcome, case: Case) -> Outcome:
        """A large case may be slow in the interpreter alone, where smaller ones were right: that says nothing."""
        large = self.task.elements(case.axes) >= SLOW and any(seen.passed for seen in self.seen.values())
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


def told(task: Task, output: str, outcome: Outcome, case: Case, arguments: Arguments) -> Outcome:
    """The outcome, with the case that led to it and what the candidate printed."""
    facts = {**outcome.facts, "case": case.to_json(), "call": messages.call(task, arguments)}
    details = messages.with_output(outcome.details, output)
    return Outcome(outcome.verdict, outcome.reason, details, facts)
