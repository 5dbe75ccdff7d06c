"""Whether outputs of timed calls are right, at sizes that stage two never saw.

The judge draws which call, and which of its elements, only after the timing. Where an output is judged as a whole
(random numbers, factorisations) it is sent whole up to 64 MB; above, only its form is checked, and records say so.
"""

import secrets
from dataclasses import replace
from typing import Any

import torch

from pytest_kernelbenchx.cases import Case
from pytest_kernelbenchx.judge.judging import Reply, judge_changed, judge_form, judge_values
from pytest_kernelbenchx.judge.measuring import Prepared, Process, unpredictable
from pytest_kernelbenchx.judge.oracle import Expectation
from pytest_kernelbenchx.judge.tolerance import Tolerance
from pytest_kernelbenchx.judge.verdicts import Outcome, Verdict
from pytest_kernelbenchx.sandbox.samples import Samples
from pytest_kernelbenchx.task import Task

SMALL = 1 << 18  # elements of an output that always comes whole
WHOLE_BYTES = 64 << 20
CHECKED = 2  # sets whose outputs are checked


class Verification:
    """One size: first `take` from the candidate's process, then, when that is gone, `judge` with the reference's."""

    def __init__(self, task: Task, case: Case, size: str, prepared: Prepared):
        self.task, self.case, self.size, self.prepared = task, case, size, prepared
        self.together = task.random is not None or task.properties is not None
        self.form_only = self.together and prepared.bytes > WHOLE_BYTES
        self.whole = 1 << 40 if self.together and not self.form_only else SMALL
        self.taken: list[tuple[int, Samples]] = []
        self.facts: dict[str, Any] = {}

    def take(self, process: Process, kept: list[int]) -> None:
        """Outputs of timed calls on sets drawn now. Raises OutcomeError."""
        second = secrets.randbelow(1 << 31) if self.task.random is not None and not self.form_only else None
        for number in secrets.SystemRandom().sample(kept, min(CHECKED, len(kept))):
            seed, changed = unpredictable(), len(self.prepared.changed)
            self.taken.append((number, process.sample(number, seed, self.whole, second, changed)))

    def judge(self, process: Process, device: str) -> Outcome:
        """The verdict on what was taken. Raises OutcomeError (INFRA_ERROR)."""
        if not self.taken:
            return Outcome(Verdict.NO_RESULT, f"no timed call at size {self.size} left an output")
        outcome = Outcome(Verdict.PASSED)
        for number, got in self.taken:
            arguments = self.together and not self.form_only
            wanted, exact, changing = process.reference(
                number, got.seed, self.whole, exact=not self.form_only, arguments=arguments
            )
            outcome = self._judged(got, wanted, changing, device, number)
            self.facts = {"checked_sets": [n for n, _ in self.taken], "truth": "float64" if exact else "eager"}
            self.facts["checked"] = "form" if self.form_only else "sample" if got.partial else "whole"
            if not outcome.passed:
                return self._explained(outcome, got)
        return outcome

    def _judged(self, got: Samples, wanted: Samples, changing: list[str], device: str, number: int) -> Outcome:
        case = replace(self.case, seed=self.case.seed + number)
        device = next(iter(wanted.devices["eager"]), device)  # some operations make their output where they are told
        reply = Reply(got.like["value"], devices=got.devices["value"], device=device)
        outcome = judge_form(self.task, case, Expectation({}, eager=wanted.like["eager"]), reply)
        if not outcome.passed or self.form_only:
            return outcome
        task = self.task
        if got.partial:  # a sample has no rows
            task = replace(task, tolerance=replace(Tolerance.of(task.tolerance), rows=None))
        expected, reply = expectation(wanted, changing), self._reply(got, device)
        outcome = judge_values(task, case, expected, reply)
        kept = {name: expected.changed[name] for name in self.prepared.changed}
        return outcome if not outcome.passed else judge_changed(task, case, replace(expected, changed=kept), reply)

    def _reply(self, got: Samples, device: str) -> Reply:
        after = dict(zip(self.prepared.changed, got.groups.get("changed", []), strict=True))
        return Reply(got.groups["value"], after, got.devices["value"], device, second=got.groups.get("second"))

    def _explained(self, outcome: Outcome, got: Samples) -> Outcome:
        reason = f"right on the drawn cases, wrong at size {self.size}: {outcome.reason}"
        details = outcome.details
        index = outcome.facts.get("index")
        shapes = [leaf.shape for leaf in got.like["value"] if isinstance(leaf, torch.Tensor)]
        if got.partial and index and len(index) == 1 and len(shapes) == 1:
            note = f"The index is that of a sample; in the output it is {got.place(index[0], shapes[0])}."
            details = f"{details}\n{note}".strip()
        return Outcome(outcome.verdict, reason, details, {**outcome.facts, **self.facts})


def expectation(wanted: Samples, changing: list[str]) -> Expectation:
    """What the reference's process sent, in the form that judging takes."""
    groups = wanted.groups
    arguments = {}
    for name, leaves in groups.items():
        if name.startswith("argument "):
            arguments[name.removeprefix("argument ")] = leaves[0] if len(leaves) == 1 else leaves
    return Expectation(
        arguments=arguments,
        truth=groups["truth"],
        eager=groups["eager"],
        noise=groups["noise"],
        kept=groups["kept"],
        kept_eager=groups["kept_eager"],
        dropped=groups["dropped"],
        changed=dict(zip(changing, groups["changed"], strict=True)),
        changed_eager=dict(zip(changing, groups["changed_eager"], strict=True)),
    )
