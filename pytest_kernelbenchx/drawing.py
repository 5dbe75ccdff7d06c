"""What Hypothesis draws the cases of a task from.

Only small things are drawn (lengths, names, a seed), so that a failing case shrinks; tensors follow from them. Lengths
that expose kernels: 1, odd and prime numbers, one beside a block, several blocks with a partial last one. A case stays
within a budget of elements and of floating-point operations.
"""

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hypothesis import assume, reject
from hypothesis import strategies as st

from pytest_kernelbenchx.cases import Case
from pytest_kernelbenchx.fills import FILLS
from pytest_kernelbenchx.spec import TensorSpec
from pytest_kernelbenchx.task import Task, select

LENGTHS = (1, 2, 3, 5, 7, 8, 13, 15, 16, 17, 31, 32, 33, 63, 64, 65, 97, 127, 128, 129, 255, 256, 257)
LONG_LENGTHS = (*LENGTHS, 511, 513, 1023, 1024, 1025, 2047, 2049, 3001, 4096, 4097, 5000)
BLOCK = 16  # Triton compiles a kernel anew for arguments that are multiples of it, and masks are all true there
LONGEST, LONGEST_ALONE = 257, 5000  # of an axis, and of the only axis of all its tensors


@dataclass(frozen=True)
class Budget:
    """How large a case may be: elements of its largest tensor, floating-point operations where a task counts them.
    `least` is how many elements it must have, `long` from where to where the length of one of its axes must lie: the
    first one for which there is room, counted from `turn` on.
    """

    elements: int = 2**14
    flops: int = 2**22
    least: int = 0
    long: tuple[int, int] | None = None
    turn: int = 0


def lengths(longest: int, known: Sequence[int] = LENGTHS) -> st.SearchStrategy[int]:
    """Lengths of an axis from 1 to `longest`; the telling ones, and those of whole blocks, are drawn more often."""
    return st.one_of(off_and_on([n for n in known if n <= longest]), st.integers(1, longest))


def off_and_on(known: Sequence[int]) -> st.SearchStrategy[int]:
    """One of `known`, as often a multiple of `BLOCK` as not, where there are both (an axis of 0 and 1 is a flag)."""
    if max(known) < BLOCK:
        return st.sampled_from(list(known))
    off, on = [n for n in known if n % BLOCK], [n for n in known if n % BLOCK == 0]
    return st.one_of(*(st.sampled_from(some) for some in (off, on) if some))


@dataclass(frozen=True)
class Shapes:
    """What `*S` is drawn from: lists of lengths. `min_side=0` draws empty tensors, too."""

    min_rank: int = 1
    max_rank: int = 4
    min_side: int = 1
    longest: int = LONGEST

    def within(self, room: int, long: tuple[int, int] | None = None) -> st.SearchStrategy[list[int]]:
        """Lists whose product is at most `room`, with one length between the two of `long` if that is given."""
        return _shape(self, room, long)


@st.composite  # at the top: Hypothesis reads the source of what it decorates
def _shape(draw: Any, kind: Shapes, room: int, long: tuple[int, int] | None) -> list[int]:
    rank = draw(st.integers(max(kind.min_rank, 1 if long else 0), kind.max_rank))
    sides: list[int] = [draw(st.integers(*long))] if long else []
    for _ in range(rank - len(sides)):
        left = max(1, room // max(1, math.prod(sides)))
        longest = max(kind.longest, LONGEST_ALONE) if rank == 1 and kind.longest == LONGEST else kind.longest
        sides.append(draw(lengths(min(left, longest), LONG_LENGTHS if rank == 1 else LENGTHS)))
    if sides and not long and kind.min_side == 0 and draw(st.integers(0, 24)) == 24:
        sides[0] = 0
    return draw(st.permutations(sides)) if rank > 1 else sides


ANY = Shapes(0, 4, min_side=0)  # what *S is drawn from where a task does not say


def dims(S: Sequence[int]) -> Sequence[int]:
    """The dimensions of *S, counted from the front and the back, for an option `dim`."""
    return range(-len(S), len(S))


def dims_or_none(S: Sequence[int]) -> Sequence[int | None]:
    """As `dims`, and None: no dimension, or all."""
    return [None, *dims(S)]


def some_dims(S: Sequence[int]) -> Sequence[int | Sequence[int]]:
    """One dimension of *S or several, counted from the front (then a tuple) or the back (a list)."""
    rank = len(S)
    several = [chosen for k in range(1, rank + 1) for chosen in itertools.combinations(range(rank), k)]
    return [*dims(S), *several, *([n - rank for n in chosen] for chosen in several[::-1])]


def some_dims_or_none(S: Sequence[int]) -> Sequence[int | Sequence[int] | None]:
    """As `some_dims`, and None: all dimensions."""
    return [None, *some_dims(S)]


def kinds(task: Task) -> list[tuple[str, str]]:
    """Every element type of a task with every fill: what a stage must see some of, and chance alone may leave out."""
    patterned = not set(task.inputs) <= set(task.fill) and task.quantized is None  # there equal values round alike
    fills = [fill for fill in FILLS if fill != "edge" or patterned]
    return [(dtype, fill) for dtype in task.dtypes for fill in fills]


def cases(
    task: Task,
    budget: Budget | None = None,
    kind: tuple[str, str] | None = None,
    simplest: bool = True,
    rejected: Callable[[], None] = lambda: None,
) -> st.SearchStrategy[Case]:
    """Cases of `task`.

    Args:
        budget: how large they may be.
        kind: their element type and fill; both are drawn if it is None.
        simplest: whether Hypothesis may begin, as it always does, with the simplest case of all (every axis 1). Asked
            for a few cases of each kind, it would give little else.
        rejected: called for each case that the task's `where=` turns away.
    """
    return _case(task, budget or Budget(), kind, simplest, rejected)


@st.composite
def _case(
    draw: Any,
    task: Task,
    budget: Budget,
    kind: tuple[str, str] | None,
    simplest: bool,
    rejected: Callable[[], None],
) -> Case:
    dtype, fill = kind or draw(st.sampled_from(kinds(task)))
    axes = _draw_axes(draw, task, budget)
    assume(not budget.least or task.elements(axes) >= budget.least)
    options = _draw_options(draw, task, axes, dtype)
    present, numbers = _draw_alternatives(draw, task)
    out = task.out is not None and draw(st.booleans())
    if task.where is not None:
        drawn = {**axes, **_defaults(task), **options, "dtype": dtype, "present": present}
        if not task.where(**select(task.where, drawn)):
            rejected()
            reject()
    if not simplest:
        assume(draw(st.integers(0, 7)))  # what is drawn first is 0 throughout
    return Case(
        axes=axes,
        dtype=dtype,
        options={name: value for name, value in options.items() if not _is_default(task, name, value)},
        present=present,
        numbers=numbers,
        layouts=_draw_layouts(draw, task, present, numbers) | _draw_out_layout(draw, task, out),
        fill=fill,
        seed=draw(st.integers(0, 2**32 - 1)),
        out=out,
    )


def _draw_axes(draw: Any, task: Task, budget: Budget) -> dict[str, Any]:
    names, groups = task.axis_names(), task.groups()
    lists = {name for name in names if name.endswith("_i")}
    count = draw(st.integers(1, 4)) if lists else 1
    axes: dict[str, Any] = {name: [1] if name in groups else [1] * count if name in lists else 1 for name in names}
    order = draw(st.permutations(names)) if len(names) > 1 else names
    long = _draw_long(draw, task, budget, axes)
    for name in sorted(order, key=lambda name: callable(task.axes.get(name))):  # functions see the axes they ask for
        if name == long:
            continue
        if name in groups:
            axes[name] = draw(_group(task, budget, axes, name))
        elif name in lists:
            axes[name] = [draw(_length(task, budget, axes, name, i)) for i in range(count)]
        else:
            axes[name] = draw(_length(task, budget, axes, name))
    return axes | _draw_broadcast(draw, task, axes)


def _open_axes(task: Task) -> list[str]:
    """Axes whose lengths the task leaves open: those that are summed over, then those of the output, backwards."""
    declared = {name: task.axes.get(name, ANY) for name in task.axis_names() if not name.endswith("_i")}
    free = [name for name, it in declared.items() if isinstance(it, Shapes) and it.longest == LONGEST]
    made = [name for spec in task.output for name in spec.names()]
    kept = [name for name in dict.fromkeys(reversed(made)) if name in free]
    return [name for name in free if name not in made] + kept


def _draw_long(draw: Any, task: Task, budget: Budget, axes: dict[str, Any]) -> str | None:
    """Make one axis as long as the budget wants it, of those whose lengths the task leaves open; its name."""
    if budget.long is None:
        return None
    least, most = budget.long
    free = _open_axes(task)
    turn = budget.turn % max(1, len(free))
    for name in free[turn:] + free[:turn]:
        shapes, group = task.axes.get(name, ANY), name in task.groups()

        def with_length(n: int, name: str = name, group: bool = group) -> dict[str, Any]:
            return axes | {name: [n] if group else n}

        room = _room(task, budget, with_length, budget.elements if group else most)
        if room >= least:
            long = (least, min(room, most))
            of_group = isinstance(shapes, Shapes) and group
            axes[name] = draw(shapes.within(room, long) if of_group else st.integers(*long))
            return name
    reject()


def _group(task: Task, budget: Budget, axes: dict[str, Any], name: str) -> Any:
    """What the lengths of `*S` are drawn from."""
    declared = task.axes.get(name, ANY)
    if callable(declared):
        declared = declared(**select(declared, axes))
    if isinstance(declared, Shapes):
        return declared.within(_room(task, budget, lambda n: axes | {name: [n]}, budget.elements))
    return declared if isinstance(declared, st.SearchStrategy) else st.sampled_from([list(shape) for shape in declared])


def _length(task: Task, budget: Budget, axes: dict[str, Any], name: str, element: int | None = None) -> Any:
    """What the length of one axis is drawn from, given those drawn so far."""
    declared = task.axes.get(name)
    if callable(declared):
        declared = declared(**select(declared, axes))
    if isinstance(declared, st.SearchStrategy):
        return declared
    alone = all(spec.axes == (name,) for spec in task.inputs.values() if name in list(spec.names()))

    def with_length(n: int) -> dict[str, Any]:
        return axes | {name: n if element is None else [n] * len(axes[name])}

    longest = LONGEST_ALONE if alone else LONGEST
    if declared is not None:
        room = _room(task, budget, with_length, max(declared))
        return off_and_on([n for n in declared if n <= room] or [min(declared)])
    return lengths(_room(task, budget, with_length, longest), LONG_LENGTHS if alone else LENGTHS)


def _room(task: Task, budget: Budget, with_length: Callable[[int], dict[str, Any]], longest: int) -> int:
    """The greatest length up to `longest` that keeps the case within the budget, at least 1."""

    def fits(n: int) -> bool:
        axes = with_length(n)
        if task.elements(axes) > budget.elements:
            return False
        known = {**_defaults(task), **axes, "dtype": task.dtypes[0]}
        return sum(task.operations(known).values()) <= budget.flops

    low, high = 1, longest
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low


def _draw_broadcast(draw: Any, task: Task, axes: dict[str, Any]) -> dict[str, Any]:
    """For tensors of shape *S~: each axis kept or made 1, leading axes dropped."""
    drawn: dict[str, Any] = {}
    for name, spec in task.inputs.items():
        for axis in spec.axes:
            if axis.endswith("~"):
                group = axis.strip("*~")
                if not draw(st.booleans()):
                    continue
                full = axes[group]
                kept = full[draw(st.integers(0, len(full))) :]
                drawn[f"{group}~{name}"] = [draw(st.sampled_from((n, 1))) for n in kept]
    return drawn


def _draw_options(draw: Any, task: Task, axes: Mapping[str, Any], dtype: str) -> dict[str, Any]:
    options: dict[str, Any] = {}
    for name, declared in task.options.items():
        if callable(declared):
            declared = declared(**select(declared, {**axes, **_defaults(task), **options, "dtype": dtype}))
        drawn_from = declared if isinstance(declared, st.SearchStrategy) else st.sampled_from(list(declared))
        options[name] = draw(drawn_from)
    return options


def _defaults(task: Task) -> dict[str, Any]:
    return {n: p.default for n, p in task.parameters.items() if n in task.options and p.default is not p.empty}


def _is_default(task: Task, name: str, value: Any) -> bool:
    default = task.parameters[name].default
    return type(default) is type(value) and default == value


def _draw_alternatives(draw: Any, task: Task) -> tuple[tuple[str, ...], dict[str, float]]:
    """Which optional tensors are passed, and numbers in place of tensors."""
    present: list[str] = []
    numbers: dict[str, float] = {}
    for name, spec in task.inputs.items():
        if spec.optional and draw(st.booleans()):
            present.append(name)
        if spec.number and not draw(st.booleans()):
            numbers[name] = draw(st.sampled_from((2.0, 0.5, -1.5, 3, 1e-3)) | st.floats(-8, 8, width=16).filter(bool))
    return tuple(present), numbers


def _draw_layouts(draw: Any, task: Task, present: Sequence[str], numbers: Mapping[str, float]) -> dict[str, str]:
    layouts: dict[str, str] = {}
    for name, spec in task.inputs.items():
        if name in numbers or not _passed(spec, name, present):
            continue
        allowed = [layout for layout in task.layouts if layout != "expanded" or name not in task.mutates]
        layout = draw(st.sampled_from(("contiguous", "contiguous", *allowed)))
        if layout != "contiguous":
            layouts[name] = layout
    return layouts


def _draw_out_layout(draw: Any, task: Task, out: bool) -> dict[str, str]:
    """Strides of what is passed as `out`, where the task does not want everything contiguous."""
    strided = out and task.out is not None and "strided" in task.layouts and draw(st.booleans())
    return {str(task.out): "strided"} if strided else {}


def _passed(spec: TensorSpec, name: str, present: Sequence[str]) -> bool:
    return not spec.optional or name in present
