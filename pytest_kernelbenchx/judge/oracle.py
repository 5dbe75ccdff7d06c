"""What a case should give: the reference in double precision (the truth) and as PyTorch itself computes it (eager)."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from pytest_kernelbenchx.cases import Arguments, Case, build, split_call
from pytest_kernelbenchx.judge.tolerance import jitter
from pytest_kernelbenchx.task import Task

WIDE = {torch.float32: torch.float64, torch.float16: torch.float64, torch.bfloat16: torch.float64}
WIDE[torch.complex64] = torch.complex128
JITTERS = 2  # evaluations on inputs that are rounded differently; the root mean square of two is known to a factor of 2


@dataclass
class Expectation:
    """What is expected of a case.

    Attributes:
        arguments: the inputs, as the candidate gets them.
        truth: the outputs in double precision, nested results flattened; None where nothing is returned.
        eager: PyTorch's outputs in the case's own types; it has the form (shapes, types) that is wanted.
        noise: for every output, how far rounding the inputs moves each element.
        changed: by input that the operation may change, its value afterwards in double precision.
        raises: what the reference raises for this case.
    """

    arguments: Arguments
    truth: list[Any] = field(default_factory=list)
    eager: list[Any] = field(default_factory=list)
    noise: list[Tensor | None] = field(default_factory=list)
    changed: dict[str, Tensor] = field(default_factory=dict)
    changed_eager: dict[str, Tensor] = field(default_factory=dict)
    raises: Exception | None = None


def expect(task: Task, case: Case) -> Expectation:
    """Evaluate the reference on a case. Whatever the reference raises is what the candidate should raise, too."""
    expectation = Expectation(build(task, case))
    try:
        expectation.eager, expectation.changed_eager = run(task, copied(expectation.arguments))
    except Exception as error:
        if case.example is not None and isinstance(error, task.examples[case.example].get("raises", ())):
            expectation.raises = error
            return expectation
        raise
    function = task.truth or task.reference
    expectation.truth, expectation.changed = run(task, widened(expectation.arguments), function)
    if any(isinstance(leaf, Tensor) and leaf.is_floating_point() for leaf in expectation.truth):
        expectation.noise = _noise(task, expectation, function)
    else:
        expectation.noise = [None] * len(expectation.truth)
    return expectation


def run(
    task: Task, arguments: Arguments, function: Callable[..., Any] | None = None
) -> tuple[list[Any], dict[str, Tensor]]:
    """Outputs of the reference, flattened, and the inputs that the task lets change as they are afterwards."""
    positional, named = split_call(task, arguments)
    with torch.no_grad():
        result = drive(function or task.reference, positional, named, arguments.get("grads"), task.mode)
    changed = {name: arguments[name] for name in task.mutates if isinstance(arguments.get(name), Tensor)}
    return flatten(result), changed


def drive(function: Callable[..., Any], positional: list[Any], named: dict[str, Any], grads: Any, mode: str) -> Any:
    """Call the reference."""
    if mode != "optimizer":
        return function(*positional, **named)
    optimizer = function(*positional, **named)
    for step in grads:
        for parameter, gradient in zip(positional[0], step, strict=True):
            parameter.grad = gradient
        optimizer.step()
    return list(positional[0])


def flatten(value: Any) -> list[Any]:
    """The leaves of nested tuples and lists, in order."""
    if isinstance(value, (tuple, list)):
        return [leaf for item in value for leaf in flatten(item)]
    return [value]


def each(value: Any, change: Callable[[Tensor], Tensor]) -> Any:
    """`value` with every tensor in it replaced."""
    if isinstance(value, Tensor):
        return change(value)
    return [each(item, change) for item in value] if isinstance(value, list) else value


def copied(arguments: Arguments) -> Arguments:
    """Copies that the reference may change, in the same memory layout."""
    return {name: each(value, _clone) for name, value in arguments.items()}


def _clone(tensor: Tensor) -> Tensor:
    return (
        torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype).copy_(tensor)
        if all(tensor.stride())
        else tensor.clone()
    )


def widened(arguments: Arguments) -> Arguments:
    """Copies in double precision; options that name a floating-point type name double precision, too."""
    return {name: WIDE.get(v, v) if isinstance(v, torch.dtype) else each(v, _widen) for name, v in arguments.items()}


def _widen(tensor: Tensor) -> Tensor:
    return tensor.detach().clone().to(WIDE.get(tensor.dtype, tensor.dtype))


def _noise(task: Task, expectation: Expectation, function: Callable[..., Any]) -> list[Tensor | None]:
    """Root mean square change of every element of the truth when the inputs are rounded."""
    squares: list[Any] = [None] * len(expectation.truth)
    for number in range(JITTERS):
        generator = torch.Generator().manual_seed(number)
        rounded = {
            name: each(v, lambda t, g=generator: jitter(_widen(t), t.dtype, g))
            for name, v in expectation.arguments.items()
        }
        rounded = {name: WIDE.get(v, v) if isinstance(v, torch.dtype) else v for name, v in rounded.items()}
        try:
            outputs, _ = run(task, rounded, function)
        except Exception:  # a rounded input may leave the domain: there is then no noise to speak of
            return [None] * len(expectation.truth)
        for i, (moved, truth) in enumerate(zip(outputs, expectation.truth, strict=False)):
            if _comparable(moved, truth):
                change = (moved - truth).abs().to(torch.float64) ** 2
                squares[i] = change if squares[i] is None else squares[i] + change
    return [None if total is None else (total / JITTERS).sqrt() for total in squares]


def _comparable(moved: Any, truth: Any) -> bool:
    return (
        isinstance(truth, Tensor)
        and isinstance(moved, Tensor)
        and moved.shape == truth.shape
        and (truth.is_floating_point() or truth.is_complex())
    )
