"""Which mistake gives exactly this wrong result? The reference is asked again, with the mistake.

A result that is wrong, and that the reference gives, to the last element and within the task's tolerance, when an
option is ignored, an input left out or two of them swapped, was most likely computed so. Nothing is said where
several different mistakes give the same numbers.
"""

import re
from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Any

import torch
from hypothesis import Phase, find
from hypothesis import settings as hypothesis_settings
from hypothesis.errors import NoSuchExample, Unsatisfiable
from hypothesis.strategies import SearchStrategy
from torch import Tensor

from pytest_kernelbenchx.cases import Case
from pytest_kernelbenchx.drawing import Budget, cases
from pytest_kernelbenchx.judge import messages
from pytest_kernelbenchx.judge.compare import agreement
from pytest_kernelbenchx.judge.explicit import QUIET
from pytest_kernelbenchx.judge.judging import Reply
from pytest_kernelbenchx.judge.mistakes import Change, changed, exchanged, ignored, left_out
from pytest_kernelbenchx.judge.oracle import Expectation, copied, flatten, run, widened
from pytest_kernelbenchx.judge.tolerance import Tolerance
from pytest_kernelbenchx.judge.verdicts import Outcome, Verdict
from pytest_kernelbenchx.task import Task

TELLING = 16  # elements of a result that two mistakes rarely share
Replied = Callable[[Case], tuple[Expectation, Reply, Outcome]]


def hinted(task: Task, outcome: Outcome, replied: Replied) -> Outcome:
    """The outcome with a hint in its details, unless it has one or none is found.

    Args:
        replied: calls the candidate on a case.
    """
    plain = task.random is None and task.quantized is None and task.properties is None
    if outcome.verdict is not Verdict.WRONG_VALUES or "hint: " in outcome.details or not plain:
        return outcome
    try:
        hint = _hint(task, Case.from_json(outcome.facts["case"]), replied)
    except Exception:  # a hint is a courtesy: whatever stands in its way, the verdict stands
        return outcome
    details = f"{outcome.details}\nhint: {hint}" if hint else outcome.details
    return Outcome(outcome.verdict, outcome.reason, details, outcome.facts)


def _hint(task: Task, case: Case, replied: Replied) -> str:
    expected, reply, _ = replied(case)
    found = suspects(task, case, expected, reply)
    if len(found) == 1 and _count(expected) >= TELLING:
        return found[0]
    larger = telling(task, case) if _count(expected) < TELLING else None
    if larger is None:
        return found[0] if len(found) == 1 else ""
    expected, reply, outcome = replied(larger)
    if outcome.verdict is not Verdict.WRONG_VALUES:
        return found[0] if len(found) == 1 else ""
    there = suspects(task, larger, expected, reply)
    kinds = {re.sub(r"\d+", "n", hint) for hint in there}  # its axes have other lengths
    both = [hint for hint in found if re.sub(r"\d+", "n", hint) in kinds] or ([] if found else there)
    if len(both) == 1:
        return both[0]
    line = next((line for line in outcome.details.splitlines() if line.startswith("hint: ")), "")
    return f"{line.removeprefix('hint: ')} (seen at {messages.call(task, expected.arguments)})" if line else ""


def _count(expected: Expectation) -> int:
    return max((leaf.numel() for leaf in expected.truth if isinstance(leaf, Tensor)), default=0)


def telling(task: Task, case: Case) -> Case | None:
    """A case of the same element type, standard and contiguous, whose tensors are large enough to tell mistakes apart;
    the same one whenever it is asked for.
    """

    def enough(drawn: Case) -> bool:
        sizes = [spec.elements(drawn.axes) for spec in task.output if spec.known]
        sizes += [spec.elements(drawn.axes, name) for name, spec in task.inputs.items()]
        same = all(drawn.options.get(name) == value for name, value in case.options.items())
        return same and not drawn.layouts and min(sizes, default=0) >= TELLING

    strategy: SearchStrategy[Case] = cases(task, Budget(2**12, 2**20), (case.dtype, "standard"))
    few = hypothesis_settings(QUIET, max_examples=100, phases=(Phase.generate,))  # the first that fits will do
    for wanted in (enough, lambda drawn: not drawn.layouts and task.elements(drawn.axes) >= 4 * TELLING):
        try:
            return replace(find(strategy, wanted, settings=few, random=Random(0)), seed=0)
        except (NoSuchExample, Unsatisfiable):
            continue
    return None


def suspects(task: Task, case: Case, expected: Expectation, reply: Reply) -> list[str]:
    """Sentences on the mistakes that give what came back: those in the arguments, or else those in the result."""
    got = flatten(reply.value)
    if matches(task, got, expected.truth):
        return unwritten(task, case, expected, reply)
    found = []
    for hint, arguments in (*left_out(task, expected), *ignored(task, case, expected), *exchanged(task, expected)):
        try:
            truth = run(task, copied(widened(arguments)), task.truth or task.reference)[0]
        except Exception:  # without an input, or with another option, there may be no result
            continue
        if matches(task, got, truth):
            found.append(hint)
    if not found:
        found = [hint for hint, change in changed(expected) if matches(task, got, _each(expected.truth, change))]
    return list(dict.fromkeys(found))


def unwritten(task: Task, case: Case, expected: Expectation, reply: Reply) -> list[str]:
    """What was returned is right; which tensor that should hold it does not?"""
    names = [
        name
        for name, truth in expected.changed.items()
        if isinstance(after := reply.after.get(name), Tensor)
        and not matches(task, [after], [truth])
        and torch.equal(after, expected.arguments[name])
    ]
    names = names or ([task.out] if case.out and task.out else [])
    return [f"what is returned is right, but {names[0]!r} was not written to"] if len(names) == 1 else []


def matches(task: Task, got: list[Any], truth: list[Any]) -> bool:
    """Whether every element of every output is right, if that is the truth."""
    if len(got) != len(truth):
        return False
    for value, wanted in zip(got, truth, strict=True):
        if not isinstance(value, Tensor) or not isinstance(wanted, Tensor):
            continue
        alike = value.shape == wanted.shape and value.is_complex() == wanted.is_complex()
        if not alike or not bool(agreement(value, wanted, tolerance=Tolerance.of(task.tolerance))[0].all()):
            return False
    return True


def _each(truth: list[Any], change: Change) -> list[Any]:
    return [change(leaf) if isinstance(leaf, Tensor) and leaf.is_floating_point() else leaf for leaf in truth]
