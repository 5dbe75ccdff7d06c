"""What a case costs at least: bytes that must cross the memory bus, and floating-point operations.

Compulsory traffic is every input read once and every output written once, whatever an implementation does in between:
the roofline's bound on time is then one that no kernel can beat.
"""

import math
from typing import Any

import torch
from torch import Tensor

from pytest_kernelbenchx.cases import Case, split_call
from pytest_kernelbenchx.dtypes import DTYPES
from pytest_kernelbenchx.spec import TensorSpec
from pytest_kernelbenchx.task import GRADS, STEPS, Task, select


def moved(task: Task, case: Case) -> int:
    """Bytes moved at least: what the task declares, or every input read once and every output written once."""
    if task.bytes is not None:
        return int(task.bytes(**select(task.bytes, known(task, case))))
    return sum(_bytes_of(t) for t in [*_tensors(list(shapes(task, case).values())), *_tensors(outputs(task, case))])


def operations(task: Task, case: Case) -> dict[str, int]:
    """Operations by class of arithmetic (a name of `hardware.RATES`), as the task declares them.

    Matrix products and convolutions count in the type of their operands, all else in float32, or float64 if that is
    the operands' type.
    """
    operands = arithmetic(task, case)
    found: dict[str, int] = {}
    for work, number in task.operations(known(task, case)).items():
        kind = operands if work == "tensor" else "f64" if operands == "f64" else "f32"
        found[kind] = found.get(kind, 0) + number
    return found


def arithmetic(task: Task, case: Case) -> str:
    """The type that a task's operands have at this case: f16, bf16, f32, f64 or int8."""
    if task.quantized is not None:
        return "int8" if task.quantized.bits == 8 else "f16"
    names = [spec.dtype_name(case.dtype) for spec in task.inputs.values()]
    found = [name for name in names if name in ("f16", "bf16", "f32", "f64")]
    wide = {"c64": "f32", "c128": "f64"}
    found += [wide[name] for name in names if name in wide]
    return max(found, key=("f16", "bf16", "f32", "f64").index, default="f32")


def footprint(task: Task, case: Case) -> int:
    """Bytes of memory that inputs, and outputs whose shape does not depend on values, take."""
    given = _tensors(list(shapes(task, case).values()))
    given += [] if any("?" in spec.axes for spec in task.output) else _tensors(outputs(task, case))
    return sum(_bytes_of(t) for t in given)


def shapes(task: Task, case: Case) -> dict[str, Any]:
    """The arguments of a case with tensors that have form but no memory."""
    arguments: dict[str, Any] = {}
    for name in task.parameters:
        spec = task.inputs.get(name)
        if spec is None:
            if name in case.options:
                arguments[name] = case.options[name]
        elif name in case.numbers:
            arguments[name] = case.numbers[name]
        elif not spec.optional or name in case.present:
            arguments[name] = _form(spec, case, name)
        elif task.parameters[name].default is task.parameters[name].empty:
            arguments[name] = None
    if task.mode == "optimizer":
        arguments[GRADS] = [_form(task.inputs[GRADS], case) for _ in range(STEPS)]
    return arguments


def _form(spec: TensorSpec, case: Case, name: str = "") -> Any:
    dtype = DTYPES[spec.dtype_name(case.dtype)]
    count = range(spec.count(case.axes)) if spec.many else [None]
    made = [torch.empty(spec.shape(case.axes, name, i), dtype=dtype, device="meta") for i in count]
    return made if spec.many else made[0]


def outputs(task: Task, case: Case) -> Any:
    """The outputs' form: from the declaration, or by running the reference on tensors without memory."""
    if all(spec.known for spec in task.output):
        return [_form(spec, case) for spec in task.output]
    positional, named = split_call(task, shapes(task, case))
    return task.reference(*positional, **named)


def known(task: Task, case: Case) -> dict[str, Any]:
    """What `bytes=` and `flops=` may ask for: axes, options (defaults, too), `dtype` and `itemsize`."""
    defaults = {n: p.default for n, p in task.parameters.items() if n in task.options and p.default is not p.empty}
    known = {**defaults, **case.axes, **case.options}
    return {**known, "itemsize": DTYPES[case.dtype].itemsize, **({} if "dtype" in known else {"dtype": case.dtype})}


def _tensors(value: Any) -> list[Tensor]:
    if isinstance(value, (list, tuple)):
        return [tensor for item in value for tensor in _tensors(item)]
    return [value] if isinstance(value, Tensor) else []


def _bytes_of(tensor: Tensor) -> int:
    return math.prod(tensor.shape) * tensor.element_size()
