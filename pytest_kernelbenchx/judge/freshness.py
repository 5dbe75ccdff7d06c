"""Does a result depend on what lies in memory that nothing has written?

A call is made with every byte of fresh memory 0xFF (NaN, or -1), 0, and 0x7F, until one result is right and one wrong.
Then such memory was read; or, where all that differs still holds the byte, an element was never written.
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

FULL, ZERO, LARGE = 0xFF, 0, 0x7F
HOLDS = {FULL: "NaN or -1", ZERO: "zeros", LARGE: "large numbers"}


def judge_freshness(task: Task, caller: Caller, case: Case, expected: Expectation) -> Outcome | None:
    """What is wrong with a candidate that is right with one byte in fresh memory and wrong with another, both twice."""

    def ask(byte: int) -> tuple[Verdict, Reply]:
        reply = caller.call(case, expected, audit={"fresh": byte})
        return judge(task, case, expected, reply).verdict, reply

    found: dict[Verdict, tuple[int, Reply]] = {}
    for byte in HOLDS:
        verdict, reply = ask(byte)
        if verdict not in (Verdict.PASSED, Verdict.WRONG_VALUES):
            return None
        found.setdefault(verdict, (byte, reply))
        if len(found) == 2:
            again = all(ask(number)[0] is was for was, (number, _) in found.items())
            return depends(found[Verdict.WRONG_VALUES], found[Verdict.PASSED]) if again else None
    return None


def depends(wrong: tuple[int, Reply], right: tuple[int, Reply]) -> Outcome | None:
    """The verdict on two replies, each with its byte: memory was read, or elements of the result never written."""
    differing, left = compared(wrong[1].value, right[1].value, wrong[0], right[0])
    read, only = readers(wrong[1].evidence), f"right only where such memory holds {HOLDS[right[0]]}"
    if not read and left == differing:
        reason = f"{differing} elements of the result are never written: {only}"
        return Outcome(Verdict.WRONG_VALUES, reason, facts={"never_written": differing})
    watched = wrong[1].evidence is not None and wrong[1].evidence.memory is not None
    if not read and watched:
        return None
    told = f": {read}" if read else ""
    reason = f"the result depends on memory that nothing had written{told}; {differing} of its elements are {only}"
    return Outcome(Verdict.UNINITIALISED_READ, reason)


def readers(evidence: Evidence | None) -> str:
    """Which kernels read memory that nothing had written, as far as that was watched."""
    if evidence is None or evidence.memory is None:
        return ""
    return ", ".join(f"{name} read {count} such elements" for name, count in evidence.memory.uninitialised.items())


def compared(wrong: Any, right: Any, wrong_byte: int, right_byte: int) -> tuple[int, int]:
    """In how many elements two results differ, and how many of these hold nothing but the byte of their call."""
    differing = left = 0
    for one, other in zip(flatten(wrong), flatten(right), strict=False):
        if isinstance(one, Tensor) and isinstance(other, Tensor) and one.shape == other.shape and one.numel():
            first, second = rows(one), rows(other)
            apart = (first != second).any(1)
            differing += int(apart.sum())
            left += int((apart & (first == wrong_byte).all(1) & (second == right_byte).all(1)).sum())
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
        found = judge_freshness(task, caller, case, expect(task, case))
    except OutcomeError:
        return outcome
    if found is None or found.verdict is Verdict.WRONG_VALUES:
        return outcome
    return replace(outcome, verdict=found.verdict, reason=f"{found.reason}; {outcome.reason}")
