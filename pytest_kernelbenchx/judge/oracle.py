"""What a case should give: the reference in double precision (the truth) and as PyTorch itself computes it (eager)."""

import warnings
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import torch
from torch import Tensor

from pytest_kernelbenchx.cases import Arguments, Case, build, split_call
from pytest_kernelbenchx.judge.contract import shared
from pytest_kernelbenchx.judge.randomized import Dropout, Fixed
from pytest_kernelbenchx.judge.tolerance import FIELDS, WAVES, drift, jitter
from pytest_kernelbenchx.task import GRADS, Task

WIDE = {torch.float32: torch.float64, torch.float16: torch.float64, torch.bfloat16: torch.float64}
WIDE[torch.complex64] = torch.complex128
DITHERS, OF_LARGE, LARGE = 32, 8, 2**17  # of quantized inputs, see `Quantized.dither`; of outputs of so many elements
EACH = "each"  # errors that are independent, instead of along an axis
JITTERS = 4  # evaluations on inputs that are rounded differently; of fewer, one element may by chance move in none


class Noise(Sequence[Tensor | None]):
    """For every output, how far rounding the inputs moves each element. Measured when it is first looked at: most
    answers are right by the table alone, and need none.
    """

    def __init__(self, measure: Callable[[], list[Tensor | None]], count: int):
        self._measure, self._count = measure, count
        self._measured: list[Tensor | None] | None = None

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, number: Any) -> Any:
        if self._measured is None:
            self._measured = self._measure()
        return self._measured[number]


@dataclass
class Expectation:
    """What is expected of a case.

    Attributes:
        arguments: the inputs, as the candidate gets them.
        truth: the outputs in double precision, nested results flattened; None where nothing is returned.
        eager: PyTorch's outputs in the case's own types; it has the form (shapes, types) that is wanted.
        noise: for every output, how far rounding the inputs (for a quantized task: quantizing them) moves each element.
        kept, dropped: for a task with dropout, the truth if everything, or nothing, is kept; where chance decides,
            `noise` is that of `kept`. kept_eager: what PyTorch gives for it.
        changed: by input that the operation may change, its value afterwards in double precision.
        shared: numbers of PyTorch's output tensors that lie in the memory of an input.
        raises: what the reference raises for this case.
    """

    arguments: Arguments
    truth: list[Any] = field(default_factory=list)
    eager: list[Any] = field(default_factory=list)
    noise: Sequence[Tensor | None] = ()
    kept: list[Any] = field(default_factory=list)
    kept_eager: list[Any] = field(default_factory=list)
    dropped: list[Any] = field(default_factory=list)
    changed: dict[str, Tensor] = field(default_factory=dict)
    changed_eager: dict[str, Tensor] = field(default_factory=dict)
    shared: frozenset[int] = frozenset()
    raises: Exception | None = None


def expect(task: Task, case: Case, device: str = "cpu") -> Expectation:
    """Evaluate the reference on a case. Whatever the reference raises is what the candidate should raise, too.

    The same case has the same expectation, whatever the reference leaves to chance.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(case.seed)
        return _expect(task, case, device)


def _expect(task: Task, case: Case, device: str) -> Expectation:
    expectation = Expectation(build(task, case, device))
    try:
        given = copied(expectation.arguments)
        expectation.eager, expectation.changed_eager = run(task, given)
        expectation.shared = shared(expectation.eager, flatten(list(given.values())))
    except Exception as error:
        if case.example is not None and isinstance(error, task.examples[case.example].get("raises", ())):
            expectation.raises = error
            return expectation
        raise
    function = task.truth or task.reference
    wide = widened(expectation.arguments)
    if isinstance(task.random, Dropout):
        for outputs, keep in ((expectation.kept, True), (expectation.dropped, False)):
            with Fixed(keep):
                outputs += run(task, copied(wide), function)[0]
        with Fixed(True):
            expectation.kept_eager = run(task, copied(expectation.arguments))[0]
    expectation.truth, expectation.changed = run(task, copied(wide), function)
    measure = partial(_noise, task, expectation, function, wide, device)
    expectation.noise = Noise(measure, len(expectation.truth))
    return expectation


def run(
    task: Task, arguments: Arguments, function: Callable[..., Any] | None = None
) -> tuple[list[Any], dict[str, Tensor]]:
    """Outputs of the reference, flattened, and the inputs that the task lets change as they are afterwards."""
    positional, named = split_call(task, arguments)
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch's advice to its users, for instance on kl_div's "mean"
        result = drive(function or task.reference, positional, named, arguments.get(GRADS))
    changed = {name: arguments[name] for name in task.mutates if isinstance(arguments.get(name), Tensor)}
    return flatten(result), changed


def drive(function: Callable[..., Any], positional: list[Any], named: dict[str, Any], grads: Any) -> Any:
    """Call the reference; with gradients, construct an optimizer, make a step for each list, and give its tensors."""
    if grads is None:
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
        torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device=tensor.device).copy_(tensor)
        if all(tensor.stride())
        else tensor.clone()
    )


def widened(arguments: Arguments) -> Arguments:
    """Copies in double precision; options that name a floating-point type name double precision, too."""
    return {name: WIDE.get(v, v) if isinstance(v, torch.dtype) else each(v, _widen) for name, v in arguments.items()}


def _widen(tensor: Tensor) -> Tensor:
    return tensor.detach().clone().to(WIDE.get(tensor.dtype, tensor.dtype))


def _noise(
    task: Task, expectation: Expectation, function: Callable[..., Any], wide: Arguments, device: str
) -> list[Tensor | None]:
    """Root mean square change of every element of the truth when the inputs are rounded, or quantized.

    Of rounding, the largest of those of independent errors and of errors that drift along one of `FIELDS`.
    """
    nothing: list[Tensor | None] = [None] * len(expectation.truth)
    chance = _by_chance(task, expectation.arguments)
    if (chance and type(task.random) is not Dropout) or not any(_continuous(leaf) for leaf in expectation.truth):
        return nothing
    truths = expectation.kept if chance else expectation.truth

    def size(times: int, axis: int | str | None) -> list[Tensor | None]:
        moved = []
        for number in range(times):
            disturbed = _disturbed(task, expectation, wide, device, number, axis)
            with Fixed(True) if chance else nullcontext():
                moved.append(run(task, disturbed, function)[0])
        return [_root_mean_square(each, truth) for *each, truth in zip(*moved, truths, strict=False)]

    try:
        if task.quantized is not None:
            return size(_dithers(expectation), EACH)
        found = [size(JITTERS, EACH)]
        if max(t.numel() for t in tensors_in(wide)) <= LARGE:
            found += [size(WAVES, axis) for axis in FIELDS]
    except Exception:  # a rounded input may leave the domain: there is then no noise to speak of
        return nothing
    return [None if each[0] is None else torch.stack(each).amax(0) for each in zip(*found, strict=True)]


def tensors_in(arguments: Arguments) -> list[Tensor]:
    """The tensors among arguments; one without elements if there are none."""
    return [leaf for leaf in flatten(list(arguments.values())) if isinstance(leaf, Tensor)] or [torch.empty(0)]


def _root_mean_square(moved: list[Any], truth: Any) -> Tensor | None:
    """Of the changes of an output, element by element; None where it is no continuous one."""
    same = [m for m in moved if isinstance(m, Tensor) and _continuous(truth) and m.shape == truth.shape]
    if not same:
        return None
    return (torch.stack([(m - truth).abs().to(torch.float64) ** 2 for m in same]).sum(0) / len(moved)).sqrt()


def _dithers(expectation: Expectation) -> int:
    """How often to quantize: with outliers one error may be all of the noise, and eight of it are too few."""
    return OF_LARGE if expectation.truth[0].numel() > LARGE else DITHERS


def _by_chance(task: Task, arguments: Arguments) -> bool:
    """Whether random numbers decide what the outputs are."""
    defaults = {n: p.default for n, p in task.parameters.items() if p.default is not p.empty}
    if isinstance(task.random, Dropout):
        return task.random.rate({**defaults, **arguments}) > 0
    return task.random is not None


def _disturbed(
    task: Task, expectation: Expectation, wide: Arguments, device: str, number: int, axis: int | str | None
) -> Arguments:
    """The inputs in double precision, with errors as of rounding to their types, or of quantizing them.

    Where the operation gives double precision, narrower inputs are converted to it without an error.
    """
    arguments, generator = expectation.arguments, torch.Generator(device).manual_seed(number)
    how: dict[str, Any] = {"generator": generator} if axis == EACH else {"number": number, "axis": axis}
    disturb: Callable[..., Tensor] = jitter if axis == EACH else drift
    exact = any(_continuous(leaf) and leaf.dtype in (torch.float64, torch.complex128) for leaf in expectation.eager)
    disturbed: Arguments = {}
    for name, value in copied(wide).items():
        if task.quantized is not None:
            rounded, scales = task.quantized.dither, task.scales or {}
            float8 = name in task.quantized.float8
            disturbed[name] = rounded(value, scales[name], generator, float8=float8) if name in scales else value
        else:
            narrow = next((t.dtype for t in flatten(arguments[name]) if isinstance(t, Tensor)), torch.float64)
            narrow = torch.float64 if exact else narrow
            disturbed[name] = each(value, partial(disturb, dtype=narrow, **how))
    return disturbed


def _continuous(leaf: Any) -> bool:
    return isinstance(leaf, Tensor) and (leaf.is_floating_point() or leaf.is_complex())
