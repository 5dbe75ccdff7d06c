"""Does a result depend on what lies in memory that nothing has written?

A call is made with every byte of fresh memory 0xFF (NaN, or -1), and with every byte 0. An element that differs where
one of the two results is right took part in it: it was read, or, where it still holds these bytes, never written.
"""

from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from pytest_kernelbenchx.cases import Case
from pytest_kernelbenchx.judge.caller import Caller
from pytest_kernelbenchx.judge.judging import Reply, judge
from pytest_kernelbenchx.judge.oracle import Expectation, expect, flatten
from pytest_kernelbenchx.judge.verdicts import Outcome, OutcomeError, Verdict
from pytest_kernelbenchx.sandbox.evidence import Evidence
from pytest_kernelbenchx.task import Task

FULL, ZERO = 0xFF, 0
LEFT_OUT = "right only where such memory holds zeros"


def judge_freshness(task: Task, case: Case, expected: Expectation, full: Reply, zero: Reply) -> Outcome | None:
    """What is wrong with a candidate, if the replies with the one and the other byte say that it is its memory."""
    verdicts = [judge(task, case, expected, reply).verdict for reply in (full, zero)]
    if verdicts not in ([Verdict.WRONG_VALUES, Verdict.PASSED], [Verdict.PASSED, Verdict.WRONG_VALUES]):
        return None
    differing, left = compared(full.value, zero.value)
    read, loads_seen = readers(full.evidence), full.evidence is not None and full.evidence.memory is not None
    if not read and left == differing:
        fresh = "zeros" if verdicts[1] is Verdict.PASSED else "something else than zeros"
        reason = f"{differing} elements of the result are never written: right only where fresh memory holds {fresh}"
        return Outcome(Verdict.WRONG_VALUES, reason, facts={"never_written": differing})
    if not read and loads_seen:
        return None
    what = LEFT_OUT if verdicts[1] is Verdict.PASSED else "right only where such memory holds no zeros"
    told = f": {read}" if read else ""
    reason = f"the result depends on memory that nothing had written{told}; {differing} of its elements are {what}"
    return Outcome(Verdict.UNINITIALISED_READ, reason)


def readers(evidence: Evidence | None) -> str:
    """Which kernels read memory that nothing had written, as far as that was watched."""
    if evidence is None or evidence.memory is None:
        return ""
    return ", ".join(f"{name} read {count} such elements" for name, count in evidence.memory.uninitialised.items())


def compared(full: Any, zero: Any) -> tuple[int, int]:
    """In how many elements two results differ, and how many of these hold nothing but the byte of the call."""
    differing = left = 0
    for one, other in zip(flatten(full), flatten(zero), strict=False):
        if isinstance(one, Tensor) and isinstance(other, Tensor) and one.shape == other.shape and one.numel():
            first, second = rows(one), rows(other)
            apart = (first != second).any(1)
            differing += int(apart.sum())
            left += int((apart & (first == FULL).all(1) & (second == ZERO).all(1)).sum())
    return differing, left


def rows(tensor: Tensor) -> Tensor:
    """The bytes of every element, a row for each."""
    flat = tensor.resolve_conj().contiguous().reshape(-1, 1)
    return flat.view(torch.uint8)


def explained(task: Task, caller: Caller, outcome: Outcome) -> Outcome:
    """A failure, which is another one if its values are wrong because of memory that nothing had written."""
    if outcome.verdict is not Verdict.WRONG_VALUES or "case" not in outcome.facts or task.random is not None:
        return outcome
    case = Case.from_json(outcome.facts["case"])
    try:
        expected = expect(task, case)
        full, zero = (caller.call(case, expected, audit={"fresh": byte}) for byte in (FULL, ZERO))
        found = judge_freshness(task, case, expected, full, zero)
    except OutcomeError:
        return outcome
    if found is None or found.verdict is Verdict.WRONG_VALUES:
        return outcome
    return replace(outcome, verdict=found.verdict, reason=f"{found.reason}; {outcome.reason}")
