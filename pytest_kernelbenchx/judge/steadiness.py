"""After the cases of stage two: does a call give the same again, new results for new values, and results that stay?

A few cases that were right are called again: the same (NONDETERMINISTIC if it is wrong now), and with other values in
the very tensors of the call before, at the same addresses and versions (RESULT_REUSED if the answer is that of the old
values). Then all these results are read again: one that has changed was handed out twice (RESULT_REUSED), or was still
being written (ASYNC_WORK).
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from pytest_kernelbenchx.cases import Case
from pytest_kernelbenchx.judge import messages
from pytest_kernelbenchx.judge.caller import Caller
from pytest_kernelbenchx.judge.judging import judge, tensors_of
from pytest_kernelbenchx.judge.oracle import Expectation, expect
from pytest_kernelbenchx.judge.verdicts import Outcome, Verdict
from pytest_kernelbenchx.task import Task

CASES, ELEMENTS = 2, 1 << 12  # cases that are called again, and the most elements of one
OTHER = 7919  # what is added to a case's seed for other values


def judge_steadiness(task: Task, caller: Caller, passed: Iterable[Case]) -> Outcome | None:
    """What is wrong with a candidate whose cases passed, if anything. Raises OutcomeError if its process dies."""
    for case in chosen(task, passed):
        for failure in (_called_again(task, caller, case), _read_again(caller)):
            if failure is not None:
                return _with_case(task, failure, case)
    return None


def chosen(task: Task, passed: Iterable[Case]) -> list[Case]:
    """The largest case that is not too large, and the largest with another element type or layout."""
    usable = [case for case in passed if 0 < task.elements(case.axes) <= ELEMENTS and not is_literal(task, case)]
    usable.sort(key=lambda case: task.elements(case.axes), reverse=True)
    first = usable[:1]
    others = [c for c in usable if first and (c.dtype, c.layouts) != (first[0].dtype, first[0].layouts)]
    return [*first, *others[: CASES - 1]]


def is_literal(task: Task, case: Case) -> bool:
    """Whether a case's tensors are written out, so that no seed changes them."""
    example = example_of(task, case)
    return "raises" in example or all(name in example for name in task.inputs)


def example_of(task: Task, case: Case) -> Mapping[str, Any]:
    """What the task declares for a case that is an example; nothing for another."""
    return task.examples[case.example] if case.example is not None else {}


def _called_again(task: Task, caller: Caller, case: Case) -> Outcome | None:
    """Three calls that are held: the case, the case again, and other values in the same tensors."""
    expected = expect(task, case)
    other = replace(case, seed=case.seed + OTHER)
    for number in (2, 3):
        outcome = _outcome(task, caller, case, expected, reuse=False)
        if not outcome.passed and outcome.verdict is not Verdict.NOT_JUDGED:
            return _unsteady(outcome, f"was right at first, and is wrong the {number}. time")
    renewed = expect(task, other)
    outcome = _outcome(task, caller, other, renewed, reuse=True)
    if outcome.passed or outcome.verdict is Verdict.NOT_JUDGED:
        return None
    fresh = _outcome(task, caller, other, renewed, reuse=False)
    if not fresh.passed:
        return fresh  # these values it cannot do at all
    reason = f"other values in the same tensors are not looked at: {outcome.reason}; in new tensors they are right"
    return Outcome(Verdict.RESULT_REUSED, reason, outcome.details)


def _outcome(task: Task, caller: Caller, case: Case, expected: Expectation, *, reuse: bool) -> Outcome:
    reply = caller.call(case, expected, hold=True, reuse=reuse)
    return judge(task, case, expected, reply)


def _unsteady(outcome: Outcome, what: str) -> Outcome:
    if outcome.verdict is not Verdict.WRONG_VALUES:
        return outcome
    return Outcome(Verdict.NONDETERMINISTIC, f"the same call {what}: {outcome.reason}", outcome.details)


def _read_again(caller: Caller) -> Outcome | None:
    """Compare what the held calls returned with what it is now."""
    now = caller.again()
    then = caller.held[-len(now) :] if now else []  # of two cases, the second's calls are the latest
    for number, (old, new) in enumerate(zip(then, now, strict=True)):
        pairs = zip(old, tensors_of(new), strict=False)
        if all(before is None or _same(before, after) for before, after in pairs):
            continue
        later = len(now) - 1 - number
        if later:
            reason = f"what a call returned has changed after {later} later calls: results share memory"
            return Outcome(Verdict.RESULT_REUSED, f"{reason}; wanted a new tensor for every call")
        return Outcome(Verdict.ASYNC_WORK, "what the last call returned has changed since: it was not done in time")
    return None


def _same(old: Tensor, new: Tensor) -> bool:
    same = old.shape == new.shape and old.dtype == new.dtype
    return same and torch.equal(_bytes(old), _bytes(new))


def _bytes(tensor: Tensor) -> Tensor:
    return tensor.resolve_conj().contiguous().view(-1).view(torch.uint8) if tensor.numel() else torch.empty(0)


def _with_case(task: Task, outcome: Outcome, case: Case) -> Outcome:
    facts = {**outcome.facts, "case": case.to_json(), "call": messages.call(task, expect(task, case).arguments)}
    return replace(outcome, facts=facts)
