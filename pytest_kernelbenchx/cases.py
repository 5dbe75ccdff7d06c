"""A case is one input of a task: axes, element type, options, layouts, fill and seed. Small enough to print.

`build` makes the tensors of a case; the same case gives the same bytes in every process.
"""

import difflib
import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import torch
from torch import Tensor

from pytest_kernelbenchx import fills
from pytest_kernelbenchx.dtypes import DTYPES, NAMES
from pytest_kernelbenchx.spec import TensorSpec, names_of
from pytest_kernelbenchx.task import GRADS, STEPS, Task

Arguments = dict[str, Any]  # parameter -> tensor, list of tensors or plain value, in the order of the signature


@dataclass(frozen=True, kw_only=True)
class Case:
    """One input of a task.

    Attributes:
        axes: length by axis; a list of lengths for `*S` and for axes that end in `_i`.
        dtype: what T stands for.
        options: values of non-tensor parameters; those left out keep their defaults.
        present: optional tensors that are passed.
        numbers: Python numbers passed in place of tensors.
        layouts: memory layout of inputs that are not contiguous.
        fill: "standard", "outlier" or "edge".
        seed: of the values.
        out: whether a preallocated output is passed.
        example: number of the task's example whose literal values are used.
    """

    axes: dict[str, Any] = field(default_factory=dict)
    dtype: str = "f32"
    options: dict[str, Any] = field(default_factory=dict)
    present: tuple[str, ...] = ()
    numbers: dict[str, float] = field(default_factory=dict)
    layouts: dict[str, str] = field(default_factory=dict)
    fill: str = "standard"
    seed: int = 0
    out: bool = False
    example: int | None = None

    def to_json(self) -> str:
        """One line of JSON without what is default; `from_json` reads it."""
        values = {**asdict(self), "present": list(self.present)}
        shown = {key: value for key, value in values.items() if value is not None and value is not False}
        shown = {key: value for key, value in shown.items() if value not in ({}, []) and (key, value) != ("seed", 0)}
        return json.dumps({key: plain(value) for key, value in shown.items()}, sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> "Case":
        """Read `--kbx-case`; ValueError says what is wrong with it."""
        try:
            values = json.loads(text)
            if not isinstance(values, dict):
                raise TypeError(f"it is a {type(values).__name__}, wanted an object")
            if strange := [key for key in values if key not in cls.__dataclass_fields__]:
                near = difflib.get_close_matches(strange[0], cls.__dataclass_fields__, 1)
                known = f"did you mean {near[0]}?" if near else f"there are {', '.join(cls.__dataclass_fields__)}"
                raise TypeError(f"unknown key {strange[0]!r:.80}; {known}")
            case = cls(**{key: revived(value) for key, value in values.items()})
        except (json.JSONDecodeError, TypeError) as error:
            raise ValueError(f"no case: {error}") from None
        return case if isinstance(case.present, tuple) else cls(**{**vars(case), "present": tuple(case.present)})


def plain(value: Any) -> Any:
    """`value` as JSON can hold it: element types, tuples and non-finite numbers are wrapped.

    A device stands for the one that the candidate runs on, whichever it is, a generator for one of that device with the
    case's seed.
    """
    if isinstance(value, torch.dtype):
        return {"dtype": NAMES[value]}
    if isinstance(value, torch.device):
        return {"device": True}
    if isinstance(value, torch.Generator):
        return {"generator": True}
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": str(value)}
    if isinstance(value, tuple):
        return {"tuple": [plain(item) for item in value]}
    if isinstance(value, list):
        return [plain(item) for item in value]
    return {key: plain(item) for key, item in value.items()} if isinstance(value, dict) else value


def revived(value: Any) -> Any:
    """The inverse of `plain`."""
    if isinstance(value, list):
        return [revived(item) for item in value]
    if not isinstance(value, dict):
        return value
    match value:
        case {"dtype": str(name)} if len(value) == 1 and name in DTYPES:
            return DTYPES[name]
        case {"device": True} if len(value) == 1:
            return torch.device("cpu")
        case {"generator": True} if len(value) == 1:
            return torch.Generator()
        case {"float": str(text)} if len(value) == 1:
            return float(text)
        case {"tuple": list(items)} if len(value) == 1:
            return tuple(revived(item) for item in items)
    return {key: revived(item) for key, item in value.items()}


def build(task: Task, case: Case, device: str = "cpu") -> Arguments:
    """The arguments of a case, tensors on `device`, in the order of the signature.

    Every tensor has a generator of its own, seeded by the case's seed and the tensor's name, so that leaving one
    argument out does not change the others. The generators are the device's: the same case has other values on a GPU.
    """
    if device == "cpu":
        return _build(task, case, device)
    with torch.device(device):
        return _build(task, case, device)


def _build(task: Task, case: Case, device: str) -> Arguments:
    example = task.examples[case.example] if case.example is not None else {}
    arguments: Arguments = {}
    for name in task.parameters:
        if name in task.inputs:
            value = _input(task, case, name, arguments, example, device)
            if value is not _ABSENT:
                arguments[name] = value
        elif name in case.options:
            arguments[name] = _here(case.options[name], case, device)
    if task.mode == "optimizer":
        arguments[GRADS] = [_gradients(task, case, step, arguments, example, device) for step in range(STEPS)]
    return arguments


def _here(value: Any, case: Case, device: str) -> Any:
    """The value of an option, with what a device or a generator in it stands for."""
    if isinstance(value, torch.Generator):
        return torch.Generator(device).manual_seed(case.seed)
    return torch.device(device) if isinstance(value, torch.device) else value


def _gradients(
    task: Task, case: Case, step: int, built: Arguments, example: Mapping[str, Any], device: str
) -> list[Tensor]:
    """The gradients of one step; an example gives a list of them for each."""
    given = example.get(GRADS)
    here = {**example, GRADS: given[step]} if isinstance(given, list) else example
    return _input(task, replace(case, seed=case.seed + step), GRADS, built, here, device)


_ABSENT = object()


def _input(task: Task, case: Case, name: str, built: Arguments, example: Mapping[str, Any], device: str) -> Any:
    spec = task.inputs[name]
    if name in case.numbers:
        return case.numbers[name]
    if spec.optional and name not in case.present:
        return None if task.parameters[name].default is task.parameters[name].empty else _ABSENT
    dtype = DTYPES[spec.dtype_name(case.dtype)]
    given = example.get(name)
    if isinstance(given, (list, Tensor)):
        if spec.many:
            return [_literal(item, dtype).to(device) for item in given]
        return laid_out(_literal(given, dtype).to(device), case.layouts.get(name, "contiguous"))
    fill = fills.NAMED[given] if isinstance(given, str) else task.fill.get(name, fills.default)

    def one(element: int | None) -> Tensor:
        shape = spec.shape(case.axes, name, element)
        context = {**case.axes, **_options(task, case), **built, "shape": shape, "dtype": dtype, "kind": case.fill}
        values = fills.call(fill, {**context, "rng": _generator(case.seed, name, element, device)})
        if list(values.shape) != shape:
            raise ValueError(f"task {task.name}: the fill of {name!r} gave shape {list(values.shape)}, wanted {shape}")
        return laid_out(values.to(dtype), case.layouts.get(name, "contiguous"))

    return [one(i) for i in range(spec.count(case.axes))] if spec.many else one(None)


def _literal(given: Any, dtype: torch.dtype) -> Tensor:
    """What an example gives: a tensor keeps its own element type."""
    return given.clone() if isinstance(given, Tensor) else torch.tensor(given, dtype=dtype)


def _options(task: Task, case: Case) -> dict[str, Any]:
    """Options of a case, defaults included."""
    defaults = {name: task.parameters[name].default for name in task.options}
    return {**defaults, **case.options}


def _generator(seed: int, name: str, element: int | None, device: str) -> torch.Generator:
    digest = hashlib.sha256(f"{seed}/{name}/{element}".encode()).digest()
    return torch.Generator(device).manual_seed(int.from_bytes(digest[:7], "little"))


def laid_out(values: Tensor, layout: str) -> Tensor:
    """`values` in another memory layout: same shape, same numbers, other strides or offset.

    transposed: the last two axes change places in memory. strided: every other element of a wider buffer.
    offset: starts one element into its buffer, so that it is not aligned. expanded: the first axis has stride 0, and
    the numbers of its first entry everywhere.
    """
    if layout == "transposed" and values.dim() >= 2:
        return values.mT.contiguous().mT
    if layout == "strided" and values.dim() >= 1:
        wide = values.new_zeros((*values.shape[:-1], 2 * values.shape[-1]))
        wide[..., ::2] = values
        return wide[..., ::2]
    if layout == "offset":
        buffer = values.new_zeros(values.numel() + 1)
        buffer[1:] = values.reshape(-1)
        return buffer[1:].view(values.shape)
    if layout == "expanded" and values.dim() >= 1 and values.shape[0]:
        return values[:1].contiguous().expand(values.shape)
    return values


def split_call(task: Task, arguments: Arguments) -> tuple[list[Any], dict[str, Any]]:
    """Arguments as they are passed: those without a default by position, the others by keyword."""
    positional: list[Any] = []
    named: dict[str, Any] = {}
    for name, parameter in task.parameters.items():
        if name not in arguments:
            continue
        if parameter.kind is parameter.VAR_POSITIONAL:
            positional += arguments[name]
        elif parameter.kind is parameter.KEYWORD_ONLY or parameter.default is not parameter.empty:
            named[name] = arguments[name]
        else:
            positional.append(arguments[name])
    return positional, named


def from_example(task: Task, number: int) -> Case:
    """The case of one of the task's examples."""
    return _described(task, task.examples[number], number)


def from_size(task: Task, label: str, seed: int = 0) -> Case:
    """The case of one of the task's sizes, contiguous, with standard values."""
    return _described(task, {**task.sizes[label], "seed": seed}, None)


def _described(task: Task, given: Mapping[str, Any], number: int | None) -> Case:
    """The case that a declaration describes by axes, parameters and literals.

    Its `dtype` is what T stands for when it is a short name, and the parameter of that name when it is a torch.dtype.
    """
    described = dict(given)
    dtype = described.pop("dtype") if isinstance(described.get("dtype"), str) else task.dtypes[0]
    axes = {name: _axis_value(described[name]) for name in task.axis_names() if name in described}
    present = []
    numbers = {}
    for name, spec in task.inputs.items():
        value = described.get(name)
        if isinstance(value, (bool, str, list, Tensor)) and value is not False:
            present += [name] if spec.optional else []
            axes.update({k: v for k, v in _inferred(spec, name, value, dtype).items() if k not in axes})
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            numbers[name] = value
    for axis in task.axis_names():
        axes.setdefault(axis, [1] if axis in task.groups() else 1)
    return Case(
        axes=axes,
        dtype=dtype,
        options={name: described[name] for name in task.options if name in described},
        present=tuple(present),
        numbers=numbers,
        layouts=dict(described.get("layout", {})),
        fill=described.get("fill", "standard"),
        seed=described.get("seed", 0),
        out=bool(described.get("out", False)),
        example=number,
    )


def _axis_value(value: Any) -> Any:
    return list(value) if isinstance(value, (tuple, list)) else value


def _inferred(spec: TensorSpec, name: str, given: Any, dtype: str) -> dict[str, Any]:
    """Axes that the shape of a literal tells: none where several groups share it, the example gives them then."""
    if not isinstance(given, (list, Tensor)) or spec.many or sum(axis.startswith("*") for axis in spec.axes) > 1:
        return {}
    shape = list(_literal(given, DTYPES[spec.dtype_name(dtype)]).shape)
    axes: dict[str, Any] = {}
    for position, axis in enumerate(spec.axes):
        if axis.startswith("*"):
            after = len(spec.axes) - position - 1
            middle = shape[position : len(shape) - after]
            axes[f"{axis.strip('*~')}~{name}" if axis.endswith("~") else axis[1:]] = middle
        elif axis.isidentifier() and names_of(axis):
            from_end = any(before.startswith("*") for before in spec.axes[:position])
            axes[axis] = shape[position - len(spec.axes) if from_end else position]
    return axes
