"""What Python's own constructs mean inside a Triton kernel; rewritten kernels call these functions (see `rewriting`).

The rules are those of `triton/compiler/code_generator.py`.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import triton.language as tl
from triton.compiler.errors import CompilationError
from triton.runtime import interpreter


def is_tensor(value: Any) -> bool:
    return isinstance(value, tl.core.tensor)


def truth(value: Any) -> Any:
    """A block or scalar as int1."""
    return value if value.type.scalar == tl.int1 or value.handle.data.size > 1 else value != 0


def boolean(method: str, *operands: Callable[[], Any]) -> Any:
    """`and` / `or`: constants decide at once, tensors are joined element by element."""
    tensors, value = [], None
    for operand in operands:
        value = operand()
        if is_tensor(value):
            tensors.append(value)
        elif bool(value) is (method == "logical_or"):
            return value
    if not tensors:
        return value
    return functools.reduce(lambda left, right: getattr(truth(left), method)(truth(right)), tensors)


def negation(value: Any) -> Any:
    return truth(value).__not__() if is_tensor(value) else not value


def assigned(value: Any) -> Any:
    """A number given to a variable becomes a scalar, also inside a tuple."""
    if type(value) is tuple:
        return tuple(assigned(item) for item in value)
    return interpreter.interpreter_semantic.to_tensor(value, False)


def extreme(builtin: Callable[..., Any], elementwise: str) -> Callable[..., Any]:
    def choose(*values: Any) -> Any:
        if not any(is_tensor(value) for value in values):
            return builtin(*values)
        return functools.reduce(getattr(tl, elementwise), values)

    return choose


def integer(value: Any) -> int:
    value = getattr(value, "value", value)
    return value if isinstance(value, int) else value.__index__()


def loop(first: Any, second: Any = None, step: Any = 1, **options: Any) -> Iterator[Any]:
    """`range` and `tl.range`: yields scalars of the bounds' type."""
    start, stop = (0, first) if second is None else (first, second)
    step = 1 if step is None else step
    bounds: list[Any] = [value for value in (start, stop, step) if is_tensor(value)]
    wide = any(value.dtype.primitive_bitwidth == 64 for value in bounds)
    dtype = tl.int64 if wide else tl.int32
    for value in range(integer(start), integer(stop), integer(step)):
        yield tl.core.tensor(interpreter.TensorHandle(np.array([value]), dtype), dtype)


def unrolled(first: Any, second: Any = None, step: Any = 1, **options: Any) -> range:
    """`tl.static_range`: yields Python ints."""
    start, stop = (0, first) if second is None else (first, second)
    return range(integer(start), integer(stop), integer(1 if step is None else step))


def live(names: tuple[str, ...], values: dict[str, Any]) -> dict[str, Any]:
    """Of the variables that a loop or branch assigns, those that there are before it, or at its end, and their types.

    The type of what is no tensor is None.
    """
    found = {name: values[name] for name in names if name in values}
    return {name: value.type if is_tensor(value) else None for name, value in found.items()}


def carried(before: dict[str, Any], after: dict[str, Any]) -> None:
    """A variable that a loop carries along keeps its type: anything else does not compile."""
    for name, was in before.items():
        if was is not None and after.get(name) not in (None, was):
            refuse(f"Loop-carried variable {name} has initial type {was} but is re-assigned to {after[name]} in loop!")


def branched(test: Any, before: dict[str, Any], after: dict[str, Any], block: str) -> None:
    """A variable keeps its type in a branch that is decided at run time: anything else does not compile."""
    for name, was in before.items() if is_tensor(test) else ():
        if was is not None and after.get(name) not in (None, was):
            refuse(f"initial value for `{name}` is of type {was}, but the {block} block redefines it as {after[name]}")


def own(name: str, before: dict[str, Any], values: dict[str, Any]) -> bool:
    """Whether a variable is a loop's own: first assigned in its body, it is gone when the body ends."""
    return name in values and name not in before


def refuse(message: str) -> None:
    raise CompilationError(None, ast.Pass(), message)


HELPERS: dict[str, Callable[..., Any]] = {
    "boolean": boolean,
    "negation": negation,
    "assigned": assigned,
    "live": live,
    "carried": carried,
    "branched": branched,
    "own": own,
    "refuse": refuse,
    "range": loop,
    "min": extreme(min, "minimum"),
    "max": extreme(max, "maximum"),
}
