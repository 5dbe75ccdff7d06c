"""The cases that are tried beside those that Hypothesis draws: stage one's calls, other layouts, simpler shapes."""

from dataclasses import replace
from random import Random

from hypothesis import HealthCheck, Phase, find
from hypothesis import settings as hypothesis_settings
from hypothesis.errors import NoSuchExample, Unsatisfiable

from pytest_kernelbenchx.cases import Case, from_example
from pytest_kernelbenchx.drawing import cases
from pytest_kernelbenchx.judge.verdicts import Outcome, OutcomeError, Verdict
from pytest_kernelbenchx.task import Task

SLOW = 1024  # elements from which a call may be slow in the interpreter, which runs one program after the other
QUIET = hypothesis_settings(
    deadline=None,
    database=None,
    derandomize=False,
    phases=(Phase.generate, Phase.shrink),
    print_blob=False,
    report_multiple_bugs=False,
    suppress_health_check=list(HealthCheck),
)


def first_cases(task: Task) -> list[Case]:
    """The calls of stage one: the first and the last small example with something to do, or else the simplest case."""
    examples = small_examples(task)
    small = [case for case in examples if not case.out] or examples  # whether `out` is taken is stage two's question
    return small[:1] + small[1:][-1:] if small else [simplest(task)]


def small_examples(task: Task) -> list[Case]:
    """The examples with something to do that no interpreter is slow at; the first one with something to do, if none."""
    usable = [n for n, example in enumerate(task.examples) if "raises" not in example]
    made = [from_example(task, n) for n in usable]
    filled = [case for case in made if _filled(task, case)]
    return [case for case in filled if task.elements(case.axes) <= SLOW] or filled[:1]


def in_layouts(task: Task) -> list[Case]:
    """The calls of stage one with all inputs in each of the other layouts that the task allows."""
    others = [layout for layout in task.layouts if layout not in ("contiguous", "expanded")]
    found = []
    for case in first_cases(task):
        passed = [name for name, spec in task.inputs.items() if not spec.optional or name in case.present]
        tensors = [name for name in passed if name not in case.numbers]
        found += [replace(case, layouts=dict.fromkeys(tensors, layout)) for layout in others]
    return found


def simplest(task: Task) -> Case:
    """The smallest case with something to do that Hypothesis finds for a task."""
    try:
        return find(cases(task), lambda case: _filled(task, case), settings=QUIET, random=Random(0))
    except (NoSuchExample, Unsatisfiable):
        reason = "no case can be drawn for the task: its where= or axes= leave none, or only empty tensors"
        raise OutcomeError(Outcome(Verdict.INFRA_ERROR, reason)) from None


def _filled(task: Task, case: Case) -> bool:
    """Whether no tensor is empty. An axis may be 0 all the same, such as one that stands for padding."""
    made = [spec.elements(case.axes) for spec in task.output if spec.known]
    return all([*made, *(spec.elements(case.axes, name) for name, spec in task.inputs.items())])
