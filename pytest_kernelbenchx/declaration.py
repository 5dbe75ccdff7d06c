"""The checks of a task's declaration: each says which task, what was found, and what was wanted."""

import inspect
from typing import TYPE_CHECKING, Any

from pytest_kernelbenchx.dtypes import DTYPES
from pytest_kernelbenchx.fills import FILLS
from pytest_kernelbenchx.judge.policy.operators import GROUPS

if TYPE_CHECKING:
    from pytest_kernelbenchx.task import Task

LAYOUT_NAMES = ("contiguous", "transposed", "strided", "offset", "expanded")
CASE_KEYS = ("fill", "seed", "dtype", "raises", "layout", "out")  # what an example may say beside axes and parameters


def check(task: "Task") -> None:
    """Raise TypeError or ValueError for the first thing in the declaration that does not fit."""
    _parameters(task)
    _dtypes(task)
    _axes(task)
    _sizes(task)
    _examples(task)
    _judgement(task)


def _fail(task: "Task", message: str, kind: type[Exception] = TypeError) -> None:
    raise kind(f"task {task.name} ({task.path}): {message}")


def _known(task: "Task", what: str, names: Any, known: Any, wanted: str) -> None:
    if unknown := [name for name in names if name not in known]:
        _fail(task, f"{what} names {unknown[0]!r}; {wanted}: {', '.join(map(str, known)) or 'none'}")


def _parameters(task: "Task") -> None:
    parameters = task.parameters
    stepped = ["grads"] if task.mode == "optimizer" else []
    _known(task, "inputs=", task.inputs, [*parameters, *stepped], "the reference takes")
    _known(task, "options=", task.options, parameters, "the reference takes")
    _known(task, "fill=", task.fill, task.inputs, "the inputs are")
    _known(task, "mutates=", task.mutates, task.inputs, "the inputs are")
    _known(task, "layouts=", task.layouts, LAYOUT_NAMES, "known layouts are")
    if task.out is not None:
        _known(task, "out=", [task.out], parameters, "the reference takes")
    if both := [name for name in task.options if name in task.inputs]:
        _fail(task, f"parameter {both[0]!r} is in inputs= and in options=, wanted one of them")
    declared = {*task.inputs, *task.options, task.out}
    if missing := [name for name in parameters if name not in declared]:
        _fail(task, f"parameter {missing[0]!r} is in none of inputs=, options=, out=: say what it is drawn from")
    for name, spec in task.inputs.items():
        if not spec.known:
            _fail(task, f"input {name!r} is {spec.text!r}: '...' and '?' are for outputs alone")


def _dtypes(task: "Task") -> None:
    if not task.dtypes:
        _fail(task, "dtypes= is empty, wanted at least one element type")
    _known(task, "dtypes=", task.dtypes, DTYPES, "element types are")
    uses_t = any(spec.dtype == "T" for spec in [*task.inputs.values(), *task.output])
    if len(task.dtypes) > 1 and not uses_t:
        _fail(task, f"dtypes= gives {len(task.dtypes)} element types, but no tensor is T[...]")


def _axes(task: "Task") -> None:
    names = task.axis_names()
    if clash := [name for name in names if name in task.parameters]:
        _fail(task, f"axis {clash[0]!r} is also a parameter: name the axis differently")
    known = {*names, *task.parameters}
    for spec in task.output:
        _known(task, f"output {spec.text!r}", spec.names(), known, "the axes are")
        if "?" in spec.axes and task.bytes is None:
            _fail(task, f"the shape of output {spec.text!r} is data-dependent: declare bytes=, the bytes moved")


def _sizes(task: "Task") -> None:
    if not task.sizes:
        _fail(task, "sizes= is empty, wanted two to four labelled sizes to time at")
    for label, size in task.sizes.items():
        if not label.isidentifier() and not label.replace("_", "a").isalnum():
            _fail(task, f"size label {label!r}: wanted letters, digits and '_' alone, as part of test ids", ValueError)
        allowed = [*task.axis_names(), *task.parameters, "dtype"]
        _known(task, f"size {label!r}", size, allowed, "wanted axes, options or dtype")
        drawn = [name for name in task.axis_names() if name not in size]
        if drawn:
            _fail(task, f"size {label!r} gives {', '.join(size)}, and leaves out axis {drawn[0]!r}")
        if isinstance(size.get("dtype"), str):  # a torch.dtype is the parameter of that name
            _known(task, f"size {label!r}", [size["dtype"]], task.dtypes, "dtypes= has")


def _examples(task: "Task") -> None:
    allowed = list(dict.fromkeys([*task.axis_names(), *task.parameters, *task.inputs, *CASE_KEYS]))
    for number, example in enumerate(task.examples):
        _known(task, f"example {number}", example, allowed, "wanted parameters, axes or")
        if example.get("fill", "standard") not in FILLS:
            _fail(task, f"example {number}: fill is {example['fill']!r}, wanted {', '.join(FILLS)} or both", ValueError)
        raises = example.get("raises", Exception)
        if not (isinstance(raises, type) and issubclass(raises, Exception)):
            _fail(task, f"example {number}: raises is {raises!r}, wanted an exception class")


def _judgement(task: "Task") -> None:
    ways = [name for name in ("quantized", "random", "properties") if getattr(task, name) is not None]
    if len(ways) > 1:
        _fail(task, f"{' and '.join(ways)} are given, wanted one way to judge the output")
    if task.quantized is not None and not (task.reduction and task.scales):
        _fail(
            task,
            "quantized= needs reduction=, the axis that is summed over, and scales=, the inputs that are quantized",
        )
    if task.quantized is None and (task.reduction or task.scales or task.traces):
        _fail(task, "reduction=, scales= or traces= is given without quantized=")
    traced = [name for names in task.traces or () for name in names.split(" and ")]
    _known(task, "traces=", traced, task.scales or (), "the quantized inputs are")
    _known(task, "scales=", task.scales or (), task.inputs, "the inputs are")
    _known(task, "forbid=", task.forbid, GROUPS, "the groups are")
    if task.mode not in ("call", "optimizer"):
        _fail(task, f"mode is {task.mode!r}, wanted 'call' or 'optimizer'", ValueError)
    if task.mode == "optimizer":
        _optimizer(task)
    variadic = [p for p in task.parameters.values() if p.kind is inspect.Parameter.VAR_KEYWORD]
    if variadic:
        _fail(task, f"the reference takes **{variadic[0].name}: give every parameter a name")


def _optimizer(task: "Task") -> None:
    first = next(iter(task.parameters), "")
    tensors, grads = task.inputs.get(first), task.inputs.get("grads")
    if tensors is None or grads is None or not (tensors.many and grads.axes == tensors.axes and grads.many):
        found = f"{first} is {tensors and tensors.text!r} and grads {grads and grads.text!r}"
        _fail(task, f"of an optimizer, the first parameter and the input 'grads' are lists of one form; {found}")
