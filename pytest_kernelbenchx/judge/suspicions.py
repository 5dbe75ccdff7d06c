"""Which mistake gives exactly this wrong result? The reference is asked again, with the mistake.

A result that is wrong, and that the reference gives, to the last element and within the task's tolerance, when an
option is ignored, an input left out or two of them swapped, was most likely computed so. Nothing is said where
several different mistakes give the same numbers.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from random import Random
from typing import Any

import torch
from hypothesis import Phase, find
from hypothesis import settings as hypothesis_settings
from hypothesis.errors import NoSuchExample, Unsatisfiable
from hypothesis.strategies import SearchStrategy
from torch import Tensor

from pytest_kernelbenchx.cases import Arguments, Case
from pytest_kernelbenchx.drawing import Budget, cases
from pytest_kernelbenchx.judge import messages
from pytest_kernelbenchx.judge.compare import agreement
from pytest_kernelbenchx.judge.explicit import QUIET
from pytest_kernelbenchx.judge.judging import Reply
from pytest_kernelbenchx.judge.oracle import Expectation, copied, each, flatten, run, widened
from pytest_kernelbenchx.judge.tolerance import Tolerance
from pytest_kernelbenchx.judge.verdicts import Outcome, Verdict
from pytest_kernelbenchx.task import GRADS, Task, select

STRIDES = "inputs have the strides shown below: pass strides to the kernel, or use .contiguous()"
TELLING = 16  # elements of a result that two mistakes rarely share
OTHERS = 8  # values of one option that are tried
Replied = Callable[[Case], tuple[Expectation, Reply, Outcome]]
Change = Callable[[Tensor], Tensor]


def hinted(task: Task, outcome: Outcome, replied: Replied) -> Outcome:
    """The outcome with a hint in its details, unless it has one or none is found.

    Args:
        replied: calls the candidate on a case.
    """
    plain = task.random is None and task.quantized is None and task.properties is None
    if outcome.verdict is not Verdict.WRONG_VALUES or "hint: " in outcome.details or not plain:
        return outcome
    try:
        hint = _hint(task, Case.from_json(outcome.facts["case"]), replied)
    except Exception:  # a hint is a courtesy: whatever stands in its way, the verdict stands
        return outcome
    details = f"{outcome.details}\nhint: {hint}" if hint else outcome.details
    return Outcome(outcome.verdict, outcome.reason, details, outcome.facts)


def _hint(task: Task, case: Case, replied: Replied) -> str:
    expected, reply, _ = replied(case)
    found = suspects(task, case, expected, reply)
    if len(found) == 1 and _count(expected) >= TELLING:
        return found[0]
    larger = telling(task, case) if _count(expected) < TELLING else None
    if larger is None:
        return found[0] if len(found) == 1 else ""
    expected, reply, outcome = replied(larger)
    if outcome.verdict is not Verdict.WRONG_VALUES:
        return found[0] if len(found) == 1 else ""
    there = suspects(task, larger, expected, reply)
    both = [hint for hint in found if hint in there] or ([] if found else there)
    if len(both) == 1:
        return both[0]
    line = next((line for line in outcome.details.splitlines() if line.startswith("hint: ")), "")
    return f"{line.removeprefix('hint: ')} (seen at {messages.call(task, expected.arguments)})" if line else ""


def _count(expected: Expectation) -> int:
    return max((leaf.numel() for leaf in expected.truth if isinstance(leaf, Tensor)), default=0)


def telling(task: Task, case: Case) -> Case | None:
    """A case of the same element type, standard and contiguous, whose tensors are large enough to tell mistakes apart;
    the same one whenever it is asked for.
    """

    def enough(drawn: Case) -> bool:
        sizes = [spec.elements(drawn.axes) for spec in task.output if spec.known]
        sizes += [spec.elements(drawn.axes, name) for name, spec in task.inputs.items()]
        same = all(drawn.options.get(name) == value for name, value in case.options.items())
        return same and not drawn.layouts and min(sizes, default=0) >= TELLING

    strategy: SearchStrategy[Case] = cases(task, Budget(2**12, 2**20), (case.dtype, "standard"))
    few = hypothesis_settings(QUIET, max_examples=100, phases=(Phase.generate,))  # the first that fits will do
    for wanted in (enough, lambda drawn: not drawn.layouts and task.elements(drawn.axes) >= 4 * TELLING):
        try:
            return replace(find(strategy, wanted, settings=few, random=Random(0)), seed=0)
        except (NoSuchExample, Unsatisfiable):
            continue
    return None


def suspects(task: Task, case: Case, expected: Expectation, reply: Reply) -> list[str]:
    """Sentences on the mistakes that give what came back: those in the arguments, or else those in the result."""
    got = flatten(reply.value)
    found = []
    for hint, arguments in (*left_out(task, expected), *ignored(task, case, expected), *exchanged(task, expected)):
        try:
            truth = run(task, copied(widened(arguments)), task.truth or task.reference)[0]
        except Exception:  # without an input, or with another option, there may be no result
            continue
        if matches(task, got, truth):
            found.append(hint)
    if not found:
        found = [hint for hint, change in changed(expected) if matches(task, got, _each(expected.truth, change))]
    return list(dict.fromkeys(found))


def matches(task: Task, got: list[Any], truth: list[Any]) -> bool:
    """Whether every element of every output is right, if that is the truth."""
    if len(got) != len(truth):
        return False
    for value, wanted in zip(got, truth, strict=True):
        if not isinstance(value, Tensor) or not isinstance(wanted, Tensor):
            continue
        alike = value.shape == wanted.shape and value.is_complex() == wanted.is_complex()
        if not alike or not bool(agreement(value, wanted, tolerance=Tolerance.of(task.tolerance))[0].all()):
            return False
    return True


def left_out(task: Task, expected: Expectation) -> Iterator[tuple[str, Arguments]]:
    """Without an optional tensor; with zeros or ones in place of one of several."""
    given = expected.arguments
    tensors = [name for name, value in given.items() if isinstance(value, Tensor) and name != task.out]
    for name in tensors:
        if task.inputs[name].optional:
            yield f"this is the result without {name!r}", {key: v for key, v in given.items() if key != name}
        elif len(tensors) > 1 and given[name].is_floating_point():
            yield f"this is the result if {name!r} were 0", {**given, name: torch.zeros_like(given[name])}
            yield f"this is the result if {name!r} were 1", {**given, name: torch.ones_like(given[name])}


def ignored(task: Task, case: Case, expected: Expectation) -> Iterator[tuple[str, Arguments]]:
    """With another value of one option, with `eps` 0."""
    given = expected.arguments
    defaults = {n: p.default for n, p in task.parameters.items() if n in task.options and p.default is not p.empty}
    now = {**defaults, **case.options}
    for name, declared in task.options.items():
        if callable(declared) and not isinstance(declared, SearchStrategy):
            declared = declared(**select(declared, {**case.axes, **now, "dtype": case.dtype}))
        listed = list(declared)[:OTHERS] if isinstance(declared, (tuple, list, range)) else []
        values = [*([defaults[name]] if name in defaults else []), *listed, *([0.0] if name.startswith("eps") else [])]
        for value in dict.fromkeys(map(messages.show, values)):
            other = next(v for v in values if messages.show(v) == value)
            if name in now and messages.show(now[name]) != value:
                yield f"this is the result for {name}={value}", {**given, name: other}


def exchanged(task: Task, expected: Expectation) -> Iterator[tuple[str, Arguments]]:
    """Two inputs swapped, strided inputs taken for contiguous ones, inputs rounded to 16 bits."""
    given = expected.arguments
    tensors = {name: v for name, v in given.items() if isinstance(v, Tensor) and name != task.out}
    names = list(tensors)
    for place, first in enumerate(names):
        for second in names[place + 1 :]:
            a, b = tensors[first], tensors[second]
            if a.shape == b.shape and a.dtype == b.dtype:
                yield f"this is the result with {first!r} and {second!r} swapped", {**given, first: b, second: a}
    if any(not tensor.is_contiguous() for tensor in tensors.values()):
        yield STRIDES, {**given, **{name: _as_contiguous(tensor) for name, tensor in tensors.items()}}
    for name, dtype in (("float16", torch.float16), ("bfloat16", torch.bfloat16)):
        if any(tensor.dtype is torch.float32 for tensor in tensors.values()):
            rounded = {n: each(v, partial(_rounded, dtype=dtype)) for n, v in given.items() if n not in (GRADS,)}
            yield f"this is the result of inputs rounded to {name}: load them as they are", {**given, **rounded}


def _as_contiguous(tensor: Tensor) -> Tensor:
    """What a kernel reads that takes the tensor for a contiguous one, as far as its memory goes."""
    room = tensor.untyped_storage().nbytes() // tensor.element_size() - tensor.storage_offset()
    strides = torch.empty(tensor.shape, device="meta").stride()
    return torch.as_strided(tensor, tensor.shape, strides) if room >= tensor.numel() else tensor


def _rounded(tensor: Tensor, dtype: torch.dtype) -> Tensor:
    return tensor.to(dtype).to(tensor.dtype) if tensor.dtype is torch.float32 else tensor


def changed(expected: Expectation) -> Iterator[tuple[str, Change]]:
    """The truth itself, changed as a step that is forgotten or done twice would do."""
    yield "every element has the wrong sign: are the operands of a subtraction swapped?", torch.neg
    yield "every element is 1 over what it should be: are the operands of a division swapped?", torch.reciprocal
    yield "every element is the square of what it should be: a square root is missing", torch.square
    yield "every element is the square root of what it should be: one too many", torch.sqrt
    yield "every element is the exponential of what it should be: a logarithm is missing", torch.exp
    yield "every element is the logarithm of what it should be: an exponential is missing", torch.log
    for n in counts(expected):
        yield f"every element is {n} times what it should be: a sum in place of the mean", partial(torch.mul, other=n)
        yield f"every element is {n} times too small: a mean in place of the sum", partial(torch.mul, other=1 / n)
        for root in (1, 2) if n > 2 else ():
            ratio = (n / (n - 1)) ** (1 / root)
            yield f"this is the result if {n - 1} stood where {n} should divide", partial(torch.mul, other=ratio)
            yield f"this is the result if {n} stood where {n - 1} should divide", partial(torch.mul, other=1 / ratio)


def counts(expected: Expectation) -> list[int]:
    """How many elements a mean may be taken over: the lengths of axes, whole inputs, inputs per element of a result."""
    inputs = [leaf for value in expected.arguments.values() for leaf in flatten(value) if isinstance(leaf, Tensor)]
    found = {length for tensor in inputs for length in (*tensor.shape, tensor.numel())}
    made = {leaf.numel() for leaf in expected.truth if isinstance(leaf, Tensor)}
    found |= {tensor.numel() // n for tensor in inputs for n in made if n and tensor.numel() % n == 0}
    return sorted(n for n in found if n > 1)


def _each(truth: list[Any], change: Change) -> list[Any]:
    return [change(leaf) if isinstance(leaf, Tensor) and leaf.is_floating_point() else leaf for leaf in truth]
