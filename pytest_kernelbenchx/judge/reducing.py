"""From the failure that stage two met to the one that it reports: on a simpler case, with a hint."""

from typing import TYPE_CHECKING

from pytest_kernelbenchx.cases import Case
from pytest_kernelbenchx.judge.judging import Reply, judge
from pytest_kernelbenchx.judge.mistakes import OFFSETS, STRIDES
from pytest_kernelbenchx.judge.oracle import Expectation, expect
from pytest_kernelbenchx.judge.simplifying import simplify
from pytest_kernelbenchx.judge.suspicions import hinted
from pytest_kernelbenchx.judge.verdicts import Outcome, Verdict

if TYPE_CHECKING:
    from pytest_kernelbenchx.judge.trial import Trial

SHRINKS = 60  # further runs, those that Hypothesis had among them
SMALL = 64  # elements of a failing example that needs no smaller one


class Reduction:
    """Looks for a simpler case on which a trial's candidate fails in the same way."""

    def __init__(self, trial: "Trial"):
        self.trial, self.task = trial, trial.task

    def of(self, outcome: Outcome) -> Outcome:
        """The same failure on a simpler case where one is found, with a hint and the facts."""
        case = Case.from_json(outcome.facts["case"]) if "case" in outcome.facts else None
        if case is not None and not self.trial.deaths:
            if case.example is None or self.task.elements(case.axes) > SMALL:
                outcome = simplify(self.task, outcome, self._again)
            outcome = self.hinted(outcome)
        outcome = self._of_layouts(outcome)
        return Outcome(outcome.verdict, outcome.reason, outcome.details, {**outcome.facts, **self.trial.counts()})

    def _again(self, case: Case) -> Outcome | None:
        """The outcome of a case if it fails like the first failure; None, too, once enough were tried."""
        key, trial = case.to_json(), self.trial
        assert trial.first_failure is not None
        if key not in trial.seen:
            if trial.tally.after_failure >= SHRINKS or trial.deaths or trial.caller.spent > 2 * trial.most:
                return None
            try:
                trial.seen[key] = trial.judged(case)
            except Exception:  # options, or other axes, may ask for what was taken away
                return None
        return trial.seen[key] if alike(trial.seen[key], trial.first_failure) else None

    def hinted(self, outcome: Outcome) -> Outcome:
        """The outcome, with what it looks like, if that is known."""
        return outcome if self.trial.deaths else hinted(self.task, outcome, self._replied)

    def _replied(self, case: Case) -> tuple[Expectation, Reply, Outcome]:
        """A call that counts for nothing: what was expected, what came, and the verdict."""
        expected = expect(self.task, case)
        reply = self.trial.caller.call(case, expected)
        return expected, reply, judge(self.task, case, expected, reply)

    def _of_layouts(self, outcome: Outcome) -> Outcome:
        """The outcome, which says so where contiguous inputs gave right results and others did not."""
        case = Case.from_json(outcome.facts["case"]) if "case" in outcome.facts else None
        contiguous = [seen for key, seen in self.trial.seen.items() if not Case.from_json(key).layouts]
        right = sum(seen.passed for seen in contiguous)
        if case is None or not case.layouts or not right or right < len(contiguous):
            return outcome
        reason = f"{outcome.reason}; all {right} cases with contiguous inputs are right"
        details = [line for line in outcome.details.splitlines() if not line.strip().startswith("hint:")]
        details.append(f"hint: {OFFSETS if set(case.layouts.values()) == {'offset'} else STRIDES}")
        facts = {**outcome.facts, "contiguous_right": right}
        return Outcome(outcome.verdict, reason, "\n".join(details), facts)


def alike(found: Outcome, first: Outcome) -> bool:
    """Whether two failures are of one kind: the same verdict, and where something was raised, the same exception."""
    raised = first.verdict in (Verdict.RUNTIME_ERROR, Verdict.COMPILE_ERROR)
    same = not raised or found.reason.partition(":")[0] == first.reason.partition(":")[0]
    return found.verdict is first.verdict and same
