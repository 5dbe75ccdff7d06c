"""Last in stage two: is the result right, too, if no kernel is launched?

Then something else does the work, whatever it is called and wherever it hides: PyTorch, numpy, a thread, a library.
The calls have new values, and `torch.empty` holds NaN, so that nothing is right by chance or from before; and once
more zeros, since to write these is no work, either. Without a kernel that does part of the work some results are wrong,
and that it is a part is none of this check's business.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from torch import Tensor

from pytest_kernelbenchx.cases import Case
from pytest_kernelbenchx.judge import messages
from pytest_kernelbenchx.judge.caller import Caller
from pytest_kernelbenchx.judge.judging import judge
from pytest_kernelbenchx.judge.oracle import Expectation, expect
from pytest_kernelbenchx.judge.steadiness import ELEMENTS, OTHER, example_of, is_literal
from pytest_kernelbenchx.judge.verdicts import Outcome, Verdict
from pytest_kernelbenchx.task import Task

CASES, FEWEST = 4, 64  # cases that are tried at most; elements that their outputs have together at least


def judge_dependence(task: Task, caller: Caller, passed: Iterable[Case]) -> Outcome | None:
    """DELEGATED if the results of all chosen cases are right without a kernel. Raises OutcomeError if it dies."""
    if task.random is not None:
        return None
    cases = chosen(task, passed)
    return _without(task, caller, cases, None) or _without(task, caller, cases, {"fresh": 0, "memory": False})


def _without(task: Task, caller: Caller, cases: list[Case], audit: dict[str, Any] | None) -> Outcome | None:
    """DELEGATED if all cases are right without a kernel; with `audit`, elements that are not 0 alone count."""
    elements, right = 0, []
    for case in cases:
        expected = expect(task, case)
        reply = caller.call(case, expected, idle=True, audit=audit)
        if not reply.launches or not judge(task, case, expected, reply).passed:
            return None
        elements += made(expected, other_than_0=audit is not None)
        right.append((case, expected))
    if elements < FEWEST:
        return None
    case, expected = right[0]
    count = f"{len(right)} case" + "s" * (len(right) > 1)
    off = "with its kernels switched off" + (" and zeros in new memory" if audit else "")
    reason = f"{off}, the results of {count} ({elements} elements) are right all the same"
    facts = {"case": case.to_json(), "call": messages.call(task, expected.arguments)}
    return Outcome(Verdict.DELEGATED, f"{reason}: they do none of the work", facts=facts)


def chosen(task: Task, passed: Iterable[Case]) -> list[Case]:
    """The largest cases with ordinary values that are not too large, with other values."""
    if not task.inputs:  # and so no values: all that an operator makes of numbers
        return [case for case in passed if "raises" not in example_of(task, case)][-CASES:]
    usable = [c for c in passed if c.fill == "standard" and not is_literal(task, c)]
    usable = [case for case in usable if 0 < task.elements(case.axes) <= ELEMENTS]
    usable.sort(key=lambda case: task.elements(case.axes), reverse=True)
    return [replace(case, seed=case.seed + 2 * OTHER) for case in usable[:CASES]]


def made(expected: Expectation, other_than_0: bool = False) -> int:
    """Elements of the outputs, and of what the operation changed."""
    tensors = [leaf for leaf in [*expected.eager, *expected.changed.values()] if isinstance(leaf, Tensor)]
    return sum(int(tensor.count_nonzero()) if other_than_0 else tensor.numel() for tensor in tensors)
