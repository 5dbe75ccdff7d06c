"""The one case that --kbx-case names: does it fit the task? Who edits a printed case by hand is told what is off."""

import difflib
from collections.abc import Collection, Iterator
from typing import Any

from pytest_kernelbenchx.cases import Case, build
from pytest_kernelbenchx.dtypes import DTYPES
from pytest_kernelbenchx.fills import FILLS
from pytest_kernelbenchx.task import Task

LAYOUTS = ("contiguous", "transposed", "strided", "offset", "expanded")
KINDS = {
    "axes": (dict, "an object"),
    "options": (dict, "an object"),
    "numbers": (dict, "an object"),
    "layouts": (dict, "an object"),
    "present": (tuple, "a list of names"),
    "seed": (int, "a whole number"),
}


def chosen_case(task: Task, text: str) -> Case:
    """The case, complete enough to be built; ValueError says in one sentence what does not fit."""
    case = Case.from_json(text)
    for complaint in _complaints(task, case):
        raise ValueError(complaint)
    try:
        build(task, case)
    except Exception as error:
        first = str(error).strip().splitlines()[0] if str(error).strip() else ""
        raise ValueError(f"the inputs can't be made from it: {type(error).__name__}: {first}"[:400]) from None
    return case


def _complaints(task: Task, case: Case) -> Iterator[str]:
    """What does not fit, the most basic first."""
    for field, (kind, wanted) in KINDS.items():
        if not isinstance(getattr(case, field), kind):
            yield f"{field} is {getattr(case, field)!r:.100}, wanted {wanted}"
    if case.example is not None and case.example not in range(len(task.examples)):
        yield f"there is no example {case.example!r:.40}, {task.name} has {len(task.examples)}, counted from 0"
    named, groups = task.axis_names(), task.groups()
    yield from _unknown("axis", (axis for axis in case.axes if axis.partition("~")[0] not in named), named)
    for axis in named:
        if axis not in case.axes:
            yield f"axis {axis!r} is missing"
    drawn_from = {axis.strip("*~") for spec in task.inputs.values() for axis in spec.names()}
    for axis, value in case.axes.items():
        if axis.partition("~")[0] not in drawn_from and isinstance(value, list) and all(map(_is_length, value)):
            continue  # of no input: what it is like is for axes= to say
        several = axis.partition("~")[0] in groups or axis.endswith("_i")
        if not (isinstance(value, list) and all(map(_is_length, value)) if several else _is_length(value)):
            yield f"axis {axis!r} is {value!r:.100}, wanted {'a list of lengths' if several else 'a length'}"
    inputs = list(task.inputs)
    yield from _unknown("element type", [case.dtype], DTYPES)
    yield from _unknown("fill", [case.fill], FILLS)
    yield from _unknown("layout", case.layouts.values(), LAYOUTS)
    yield from _unknown("option", case.options, list(task.options))
    example = task.examples[case.example] if case.example is not None else {}
    for name in task.options:
        if task.parameters[name].default is task.parameters[name].empty and name not in {*case.options, *example}:
            yield f"option {name!r} is missing, and {task.name} cannot be called without it"
    for names, known in ((case.layouts, [*inputs, task.out]), (case.present, inputs), (case.numbers, inputs)):
        yield from _unknown("input", names, [name for name in known if name is not None])


def _is_length(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _unknown(what: str, given: Any, known: Collection[str]) -> Iterator[str]:
    for name in given:
        if not isinstance(name, str) or name not in known:
            near = difflib.get_close_matches(str(name), known, n=1)
            hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(known) or 'none'}"
            yield f"unknown {what} {name!r:.80}; {hint}"
