"""Mistakes that are often made, as other arguments of the reference, or as a change of its result."""

from collections.abc import Callable, Iterator
from functools import partial

import torch
from hypothesis.strategies import SearchStrategy
from torch import Tensor

from pytest_kernelbenchx.cases import Arguments, Case
from pytest_kernelbenchx.judge import messages
from pytest_kernelbenchx.judge.oracle import Expectation, each, flatten
from pytest_kernelbenchx.task import GRADS, Task, select

STRIDES = "inputs have the strides shown below: pass strides to the kernel, or use .contiguous()"
OFFSETS = "inputs begin behind the start of their storage: pass the tensor, not what its storage begins with"
OTHERS = 8  # values of one option that are tried
Change = Callable[[Tensor], Tensor]


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
