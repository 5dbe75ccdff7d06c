"""Judge what a call of a quantized task returned: by its errors (`judge.quantized`), then by its operands."""

from typing import Any

from torch import Tensor

from pytest_kernelbenchx.cases import Arguments, Case
from pytest_kernelbenchx.judge.operands import exact_operand
from pytest_kernelbenchx.judge.oracle import Expectation, run, widened
from pytest_kernelbenchx.judge.quantized import SHORTEST, judge_quantized
from pytest_kernelbenchx.judge.verdicts import Outcome, Verdict
from pytest_kernelbenchx.spec import evaluate
from pytest_kernelbenchx.task import Task, select


def judge_quantized_case(task: Task, case: Case, expected: Expectation, named: Arguments, got: Tensor) -> Outcome:
    """`PASSED`, `WRONG_VALUES` or `NOT_QUANTIZED`.

    Args:
        named: every argument by name, defaults included; in stage three tensors are left out, and operands not judged.
        got: the only output; its form was checked.
    """
    standard, truth = has_standard_values(task, case), expected.truth[0]
    outcome = judge_quantized(
        got,
        truth,
        spec=task.quantized,
        reduction=(reduction := reduction_of(task, case)),
        standard=standard,
        noise=expected.noise[0],
        float8=any(name in case.present for name in task.quantized.float8),
    )
    known = any(isinstance(named.get(name), Tensor) for name in task.scales or {})
    if not (outcome.passed and standard and known and reduction >= SHORTEST):
        return outcome

    def reference(given: Any) -> Tensor:
        return run(task, select(task.reference, given))[0][0]

    exact = exact_operand(task, widened(named), reference, truth, got)
    if not exact:
        return outcome
    reason = f"the error is that of an exact {exact}: quantize every operand to {task.quantized.bits} bits"
    return Outcome(Verdict.NOT_QUANTIZED, reason, facts=outcome.facts)


def reduction_of(task: Task, case: Case) -> int:
    """Length of the sum behind every element of a quantized result."""
    if callable(task.reduction):
        return task.reduction(**select(task.reduction, case.axes))
    return evaluate(task.reduction or "1", case.axes)


def has_standard_values(task: Task, case: Case) -> bool:
    """Whether the tensors are drawn from the standard fill, in an example as in any other case."""
    example = task.examples[case.example] if case.example is not None else {}
    given = [example.get(name) for name in task.inputs]
    return case.fill == "standard" and not any(isinstance(value, (list, str, Tensor)) for value in given)
