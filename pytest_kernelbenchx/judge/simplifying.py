"""From a failing case to a simpler one that fails in the same way.

Hypothesis has drawn and shrunk; what it leaves is tried here, in the order in which it helps a reader: shorter axes,
contiguous inputs, options at their defaults, standard values, the task's first element type, seed 0. A change is kept
if the candidate still fails in the same way.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from pytest_kernelbenchx.cases import Case
from pytest_kernelbenchx.drawing import ANY, Shapes
from pytest_kernelbenchx.judge.verdicts import Outcome
from pytest_kernelbenchx.task import Task, select

LADDER = (1, 2, 3, 5, 9, 17, 33, 65, 129, 257, 513, 1025, 2049, 4097, 8193, 16385, 32769, 65537)
FLAT = 64  # elements from which several axes are put into one
Attempt = Callable[[Case], Outcome | None]
"""Judge a case: its outcome if it fails in the same way as the one before, else None."""


def simplify(task: Task, outcome: Outcome, attempt: Attempt) -> Outcome:
    """The outcome of the simplest case found that fails in the same way."""

    def tried(case: Case) -> bool:
        nonlocal outcome
        found = attempt(case) if case != _case(outcome) and allowed(task, case) else None
        outcome = found or outcome
        return found is not None

    if _case(outcome).example is not None and not tried(replace(_case(outcome), example=None)):
        return outcome
    for name in task.groups():
        if most := _most(_case(outcome), name):
            _bisect(partial(flat, task, _case(outcome), name), most, tried)
    for name, place, length in _lengths(task, _case(outcome)):
        _bisect(partial(with_length, _case(outcome), name, place), length, tried, _known(task, name))
    for field, key in _details(task, _case(outcome)):
        tried(plainer(task, _case(outcome), field, key))
    return outcome


def _case(outcome: Outcome) -> Case:
    return Case.from_json(outcome.facts["case"])


def allowed(task: Task, case: Case) -> bool:
    """Whether the task's `where=` lets a case pass."""
    if task.where is None:
        return True
    defaults = {n: p.default for n, p in task.parameters.items() if n in task.options and p.default is not p.empty}
    drawn = {**case.axes, **defaults, **case.options, "dtype": case.dtype, "present": case.present}
    try:
        return bool(task.where(**select(task.where, drawn)))
    except Exception:  # written for cases that can be drawn
        return False


def _bisect(
    made: Callable[[int], Case | None], length: int, tried: Callable[[Case], bool], known: Sequence[int] = LADDER
) -> None:
    """Try ever fewer of the known lengths, as if whatever fails at one length fails at every greater one."""
    rungs = [n for n in known if n < length]
    low, high = 0, len(rungs)
    while low < high:
        middle = (low + high) // 2
        case = made(rungs[middle])
        low, high = (low, middle) if case is not None and tried(case) else (middle + 1, high)


def _most(case: Case, name: str) -> int:
    """Elements that the axes of `*S` span, if they are several and not few; else 0."""
    shape = case.axes.get(name, [])
    return math.prod(shape) if len(shape) > 1 and math.prod(shape) > FLAT else 0


def flat(task: Task, case: Case, name: str, length: int) -> Case | None:
    """The case with one axis in place of the several of `*S`, where the task draws such shapes."""
    if not isinstance(shapes := task.axes.get(name, ANY), Shapes) or shapes.min_rank > 1 or length <= FLAT:
        return None
    axes = {key: value for key, value in case.axes.items() if not key.startswith(f"{name}~")}
    return replace(case, axes={**axes, name: [length]})


def _lengths(task: Task, case: Case) -> Iterator[tuple[str, int | None, int]]:
    """Every length above 1 that may be another: axis, place in its list (None for a plain axis), length."""
    for name in task.axis_names():
        value, declared = case.axes.get(name), task.axes.get(name, ANY)
        if name in task.axes and not isinstance(declared, (Shapes, tuple, list, range)):
            continue  # a function or a strategy: what fits is for it to say
        if name in task.groups() and not isinstance(declared, Shapes):
            continue
        places = enumerate(value) if isinstance(value, list) else [(None, value)]
        yield from ((name, place, n) for place, n in places if isinstance(n, int) and n > 1)


def _known(task: Task, name: str) -> Sequence[int]:
    declared = task.axes.get(name, ANY)
    return LADDER if isinstance(declared, Shapes) or name not in task.axes else sorted(n for n in declared if n)


def with_length(case: Case, name: str, place: int | None, length: int) -> Case:
    """The case with another length of one axis, of tensors that broadcast along it, too."""
    if place is None:
        return replace(case, axes={**case.axes, name: length})
    old, from_end = case.axes[name], place - len(case.axes[name])
    axes = {**case.axes, name: [*old[:place], length, *old[place + 1 :]]}
    for key, kept in case.axes.items():
        if key.startswith(f"{name}~") and -from_end <= len(kept) and kept[from_end] == old[place]:
            axes[key] = [length if n == len(kept) + from_end else side for n, side in enumerate(kept)]
    return replace(case, axes=axes)


def _details(task: Task, case: Case) -> Iterator[tuple[str, str | None]]:
    """What is not default: the field of the case, and which of its entries (None for all of it)."""
    yield "layouts", None
    yield from (("layouts", name) for name in case.layouts if len(case.layouts) > 1)
    for option in case.options:
        if task.parameters[option].default is not task.parameters[option].empty:
            yield "options", option
    yield from (("present", name) for name in case.present)
    yield from ((field, None) for field in ("out", "fill", "dtype", "seed"))


def plainer(task: Task, case: Case, field: str, key: str | None) -> Case:
    """The case with the default in one place."""
    value: Any = getattr(Case(dtype=task.dtypes[0]), field)
    if key is not None:
        now = getattr(case, field)
        kept = [name for name in now if name != key]
        value = {name: now[name] for name in kept} if isinstance(now, dict) else tuple(kept)
    return replace(case, **{field: value})
