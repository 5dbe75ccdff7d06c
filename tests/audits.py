"""What every task must satisfy, as functions that give complaints: none for a good task. `test_audits.py` proves each.

An audit looks at a `Study`: the task, cases drawn for it, and what is expected of those that are judged.
"""

import hashlib
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from hypothesis import HealthCheck, given, seed, settings
from torch import Tensor
from torch.utils.flop_counter import FlopCounterMode

from pytest_kernelbenchx.cases import Case, build, from_example, from_size, split_call
from pytest_kernelbenchx.drawing import Budget, cases, kinds
from pytest_kernelbenchx.dtypes import NAMES
from pytest_kernelbenchx.judge.caller import preallocated
from pytest_kernelbenchx.judge.judging import Reply, judge, tensors_of
from pytest_kernelbenchx.judge.mismatch import errors
from pytest_kernelbenchx.judge.oracle import Expectation, copied, each, expect, flatten, run, widened
from pytest_kernelbenchx.judge.quantized import HIDDEN
from pytest_kernelbenchx.judge.sharing import BUDGETS
from pytest_kernelbenchx.judge.verdicts import Outcome, Verdict
from pytest_kernelbenchx.loading import load_task
from pytest_kernelbenchx.performance import cost
from pytest_kernelbenchx.task import GRADS, Task

DRAWN, JUDGED, SMALL = 60, 8, Budget(elements=2**11, flops=2**18)
REAL = BUDGETS["cpu"]
BLOCK, TILE = 16, 16
MEMORY = 2**31
ONE_VALUE = ("layout", "device", "pin_memory")  # parameters that a Triton kernel can take one value of
FEWER = (
    "attention",
    "matrix_multiply_and_row_dot",
    "matrix_multiply_symmetric",
    "symmetric_mm_and_abs_sum",
    "tril_mm_and_scale",
)
"""Tasks that need fewer operations than the dense product that PyTorch computes: half of it, or two rows."""
CANCELLED = 1e-6  # where all of a truth is smaller, it is what rounding left
DISAGREES = {torch.float16: 0.05, torch.bfloat16: 0.2}  # relative RMSE of eager PyTorch; 0.01 for other types
LARGE = 6  # cases of the full budget
FEW = 500  # random numbers too few to tell a constant from chance

Change = Callable[[Any, int], Any]


def same(leaf: Any, number: int) -> Any:
    return leaf


def drawn(task: Task, count: int, budget: Budget) -> list[Case]:
    """About `count` cases that Hypothesis draws, always the same, of every element type and fill."""
    every_kind = kinds(task)
    share = -(-count // len(every_kind))
    return [case for number, kind in enumerate(every_kind) for case in drawn_of(task, kind, share, budget, number)]


def drawn_of(task: Task, kind: tuple[str, str], count: int, budget: Budget, number: int) -> list[Case]:
    found: list[Case] = []
    quiet = settings(max_examples=count, database=None, deadline=None, suppress_health_check=list(HealthCheck))

    @seed(number)  # as in a trial: kinds that were drawn from one seed would have the same axes and options
    @quiet
    @given(case=cases(task, budget, kind))
    def collect(case: Case) -> None:
        found.append(case)

    collect()
    return found


@dataclass
class Study:
    """A task, and what its audits share."""

    task: Task

    @cached_property
    def examples(self) -> list[Case]:
        return [from_example(self.task, number) for number in range(len(self.task.examples))]

    @cached_property
    def drawn(self) -> list[Case]:
        return drawn(self.task, DRAWN, REAL)

    def few(self, count: int) -> list[Case]:
        """Small drawn cases of every element type and fill."""
        return drawn(self.task, count, SMALL)

    @cached_property
    def judged(self) -> list[tuple[Case, Expectation]]:
        """The examples, and small drawn cases."""
        small = self.few(JUDGED)
        if self.task.quantized:  # some with large outputs
            small += [case for case in self.drawn if case.fill == "standard"][-LARGE:]
        return [(case, expect(self.task, case)) for case in [*self.examples, *small]]

    @cached_property
    def returning(self) -> list[tuple[Case, Expectation]]:
        """Those that return something."""
        return [(case, expected) for case, expected in self.judged if expected.raises is None]

    @property
    def exact(self) -> bool:
        """Whether one answer is right, up to rounding."""
        return self.task.random is None and self.task.properties is None and self.task.quantized is None


def answer(task: Task, case: Case, expected: Expectation, change: Change = same, seed: int = 0) -> Reply:
    """What a candidate would send back that computes with PyTorch and changes each output by `change`."""
    arguments = copied(expected.arguments)
    torch.manual_seed(seed)
    try:
        leaves, _ = run(task, arguments)
    except Exception as error:
        return Reply(failure=Outcome(Verdict.RUNTIME_ERROR, str(error), facts={"exception": type(error).__name__}))
    value = [change(each(leaf, torch.detach), number) for number, leaf in enumerate(leaves)]
    after = {name: leaf if tensors_of(leaf) else [] for name, leaf in arguments.items()}
    if case.out and task.out:
        places = flatten(preallocated(expected.eager))
        after[task.out] = [place.copy_(got) for place, got in zip(places, value, strict=True)]
    devices = [leaf.device.type for leaf in value if isinstance(leaf, Tensor)]
    given = range(len(devices)) if case.out and task.out else expected.shared
    single = len(task.output) == 1 and not task.output[0].many
    return Reply(value[0] if single else value, after, devices, aliases=dict.fromkeys(given, 0))


def reply_to(task: Task, case: Case, expected: Expectation, change: Change = same) -> Reply:
    """The answer, with that under another seed where numbers are random."""
    reply = answer(task, case, expected, change)
    if task.random is not None:
        reply.second = answer(task, case, expected, change, seed=1).value
    return reply


def verdict(task: Task, case: Case, expected: Expectation, change: Change = same) -> Outcome:
    return judge(task, case, expected, reply_to(task, case, expected, change))


def replacing(number: int, by: Tensor) -> Change:
    """Put `by` in place of one output."""
    return lambda leaf, n: by if n == number else leaf


def wide(leaf: Tensor) -> Tensor:
    return leaf.to(torch.complex128 if leaf.is_complex() else torch.float64)


def floating(leaf: Any) -> bool:
    return isinstance(leaf, Tensor) and (leaf.is_floating_point() or leaf.is_complex())


def right_answers_pass(study: Study) -> Iterator[str]:
    """PyTorch's own answer passes, in every element type and on every example."""
    task = study.task
    for case, expected in [] if task.quantized else study.judged:
        outcome = verdict(task, case, expected)
        if not outcome.passed:
            yield f"{case.to_json()}: PyTorch's own answer is {outcome.verdict.name}: {outcome.reason}"


def truth_agrees_with_pytorch(study: Study) -> Iterator[str]:
    """The truth in double precision is what PyTorch computes, but for its rounding; else its own error hides all."""
    tried, far = 0, []
    for case, expected in study.returning if study.exact else []:
        for truth, eager in zip(expected.truth, expected.eager, strict=True):
            if not floating(eager) or not floating(truth) or not bool((wide(truth).abs() > CANCELLED).any()):
                continue
            tried += 1
            found = errors(eager, truth)["relative_rmse"]
            if found > DISAGREES.get(eager.dtype, 1e-2):
                far.append(f"{case.to_json()}: PyTorch and the truth differ by {found:.2g} of its root mean square")
    if 3 * len(far) > tried:  # in a few cases much cancels
        yield from far


def exact_answers_pass(study: Study) -> Iterator[str]:
    """The result in double precision, rounded to the output's type, passes."""
    for case, expected in study.returning if study.exact else []:
        truth = expected.truth

        def rounded(leaf: Any, number: int, truth: list[Any] = truth) -> Any:
            return truth[number].to(leaf.dtype) if isinstance(leaf, Tensor) else leaf

        outcome = verdict(study.task, case, expected, rounded)
        if not outcome.passed:
            yield f"{case.to_json()}: the exact result is {outcome.verdict.name}: {outcome.reason}"


def quantized_answers_pass(study: Study) -> Iterator[str]:
    """Rounding every quantized input, one scale per slice, passes; full precision does where it cannot be told."""
    task = study.task
    seen = set()
    for case, expected in study.returning if task.quantized else []:
        outcome = verdict(task, case, expected, replacing(0, simulated(task, expected)))
        if not outcome.passed:
            yield f"{case.to_json()}: a simulated honest scheme is {outcome.verdict.name}: {outcome.reason}"
        seen.add(verdict(task, case, expected).verdict)
    if task.quantized and seen != {Verdict.NOT_QUANTIZED, Verdict.PASSED}:
        names = ", ".join(sorted(found.name for found in seen))
        yield f"full precision is {names}; wanted NOT_QUANTIZED where K is long, PASSED elsewhere"


def simulated(task: Task, expected: Expectation) -> Tensor:
    """The result of symmetric rounding of the quantized inputs to `bits` bits, computed in float64."""
    arguments = widened(expected.arguments)
    for name, axis in (task.scales or {}).items():
        values = arguments.get(name)
        if values is None:
            continue
        flat, over = (values.flatten(), 0) if axis is None else (values, axis)
        if flat.numel():
            scale = flat.abs().amax(dim=over, keepdim=True) / (2 ** (task.quantized.bits - 1) - 1)
            arguments[name] = (torch.round(flat / scale.clamp(min=1e-30)) * scale).reshape(values.shape)
    return run(task, arguments)[0][0].to(expected.eager[0].dtype)


def null_answers(study: Study, case: Case, expected: Expectation, number: int) -> Iterator[tuple[str, Tensor]]:
    """Answers that do no work in place of one output, by name."""
    leaf, task = expected.eager[number], study.task
    yield "zeros", torch.zeros_like(leaf)
    yield "ones", torch.ones_like(leaf)
    for name, value in expected.arguments.items():
        if isinstance(value, Tensor) and (value.shape, value.dtype) == (leaf.shape, leaf.dtype):
            yield f"the input {name!r}", value.clone()
    if floating(leaf) and leaf.numel() > 1:
        yield "the mean everywhere", torch.full_like(leaf, wide(leaf).mean().item())
        if leaf.dim() > 1:
            yield "the row mean", wide(leaf).mean(-1, keepdim=True).expand_as(leaf).to(leaf.dtype)
        if task.quantized is None:
            yield "an added constant", leaf + wide(leaf).abs().mean().to(leaf.dtype) / 4
    if task.random is None and task.mode == "call":
        with_other_seed = run(task, build(task, replace(case, seed=case.seed + 1)))[0]
        if number < len(with_other_seed) and getattr(with_other_seed[number], "shape", None) == leaf.shape:
            yield "the answer to another seed", with_other_seed[number]


def says_nothing(task: Task, leaf: Tensor, null: Tensor) -> bool:
    """Whether a null answer is as good as the true one, or as good as quantization allows."""
    if leaf.numel() and task.quantized is not None:
        return errors(null, wide(leaf))["relative_rmse"] < task.quantized.outlier_limits[2]
    rtol = max(1e-2, 4 * torch.finfo(leaf.dtype).eps) if floating(leaf) else 1e-2
    return leaf.numel() == 0 or torch.allclose(wide(leaf), wide(null), rtol=rtol, atol=0, equal_nan=True)


def too_few(task: Task, leaf: Tensor) -> bool:
    """Whether chance, or the error of quantization, may make an answer without work right."""
    return (task.random is not None and leaf.numel() < FEW) or (task.quantized is not None and leaf.numel() < TILE)


def drowned(task: Task, expected: Expectation) -> bool:
    """Whether the error of quantization is as large as the truth."""
    if task.quantized is None or expected.noise[0] is None:
        return False
    return float(expected.noise[0].norm()) >= HIDDEN * float(expected.truth[0].norm())


def null_answers_fail(study: Study) -> Iterator[str]:
    """Answers that do no work fail wherever they are not the true answer."""
    tried, missed = 0, []
    for case, expected in study.returning:
        for number, leaf in enumerate(expected.eager):
            if not isinstance(leaf, Tensor) or too_few(study.task, leaf) or drowned(study.task, expected):
                continue
            for name, null in null_answers(study, case, expected, number):
                if says_nothing(study.task, leaf, null):
                    continue
                tried += 1
                outcome = verdict(study.task, case, expected, replacing(number, null))
                if outcome.verdict not in (Verdict.WRONG_VALUES, Verdict.WRONG_OUTPUT):
                    missed.append(f"{case.to_json()}: {name} as output {number} is {outcome.verdict.name}")
    yield from unless_arbitrary(study, tried, missed)
    if tried < 5:
        yield f"only {tried} answers without work could be told from the true one"


def corruption_fails(study: Study) -> Iterator[str]:
    """One wrong element fails; for a quantized result, one wrong tile of 16 x 16."""
    tried, missed = 0, []
    for case, expected in study.returning:
        for number, leaf in enumerate(expected.eager):
            if not isinstance(leaf, Tensor) or leaf.numel() < 2 or study.task.random is not None:
                continue
            if study.task.quantized and case.fill != "standard":  # there one tile may be all noise
                continue
            wrong = with_wrong_tile(leaf) if study.task.quantized else with_wrong_element(leaf)
            if wrong is None:
                continue
            tried += 1
            outcome = verdict(study.task, case, expected, replacing(number, wrong))
            if outcome.verdict is not Verdict.WRONG_VALUES:
                missed.append(f"{case.to_json()}: one wrong place in output {number} is {outcome.verdict.name}")
    yield from unless_arbitrary(study, tried, missed)
    large = any(isinstance(leaf, Tensor) and leaf.numel() > 1 for _, e in study.returning for leaf in e.eager)
    if not tried and large and study.task.random is None:
        yield "no output is large enough to corrupt a part of it"


def unless_arbitrary(study: Study, tried: int, missed: list[str]) -> list[str]:
    """What is missed, but for one in ten where a factor of a singular matrix, or the matrix itself, may be right."""
    return missed if study.task.properties is None or len(missed) > tried // 10 else []


def with_wrong_element(leaf: Tensor) -> Tensor | None:
    """The last element off by as much as the largest is large; None where there is no such number."""
    wrong = leaf.clone(memory_format=torch.contiguous_format).view(-1)
    if not floating(leaf):
        wrong[-1] = ~wrong[-1] if leaf.dtype is torch.bool else wrong[-1] ^ 1
        return wrong.view(leaf.shape)
    finite = wide(leaf).abs()
    if not bool(finite.isfinite().all()):
        return None
    wrong[-1] += finite.max().clamp(min=1e-3).to(leaf.dtype)
    return wrong.view(leaf.shape) if bool(wrong[-1].isfinite()) else None


def with_wrong_tile(leaf: Tensor) -> Tensor | None:
    """A tile of zeros in the last corner; None for an output that is hardly larger."""
    if leaf.dim() < 2 or leaf.numel() < 2 * TILE * TILE or math.prod(leaf.shape[-2:]) < TILE:
        return None
    wrong = leaf.clone(memory_format=torch.contiguous_format)
    wrong.view(-1, *leaf.shape[-2:])[-1, -TILE:, -TILE:] = 0
    return wrong


def changed_inputs_are_seen(study: Study) -> Iterator[str]:
    """One flipped bit in an input that the operation may not change is INPUT_MUTATED."""
    task = study.task
    for case, expected in study.returning[:4]:
        reply = reply_to(task, case, expected)
        for name, value in reply.after.items():
            if name not in task.inputs or name in task.mutates or not isinstance(value, Tensor) or not value.numel():
                continue
            changed = value.clone(memory_format=torch.contiguous_format)
            changed.view(-1).view(torch.uint8)[0] ^= 1
            touched = replace(reply, after={**reply.after, name: changed})
            if (found := judge(task, case, expected, touched).verdict) is not Verdict.INPUT_MUTATED:
                yield f"{case.to_json()}: a changed {name!r} is {found.name}"


def axes_are_off_and_on_blocks(study: Study) -> Iterator[str]:
    """Every axis that can be longer than a block is drawn as a multiple of it, and as no multiple."""
    for axis in study.task.axis_names():
        if max((n for case in study.drawn for n in as_list(case.axes.get(axis, []))), default=0) < BLOCK:
            continue
        values = [n for case in [*study.drawn, *study.examples] for n in as_list(case.axes.get(axis, []))]
        if not any(n and n % BLOCK == 0 for n in values):
            yield f"axis {axis} is never a multiple of {BLOCK}: {sorted(set(values))[:12]}"
        if not any(n % BLOCK for n in values):
            yield f"axis {axis} is always a multiple of {BLOCK}: {sorted(set(values))[:12]}"


def as_list(value: Any) -> list[int]:
    return value if isinstance(value, list) else [value]


def several_blocks_are_drawn(study: Study) -> Iterator[str]:
    """Some tensor of a drawn case or an example is longer than 1,024 and no multiple of it."""
    sizes = [n for case in [*study.drawn, *study.examples] for n in element_counts(study.task, case)]
    if not any(n > 1024 and n % 1024 for n in sizes):
        yield f"no tensor holds more than 1,024 elements with a partial last block; the largest has {max(sizes)}"


def element_counts(task: Task, case: Case) -> list[int]:
    given = [t.numel() for value in cost.shapes(task, case).values() for t in tensors_of(value)]
    return given or [task.elements(case.axes), *(value for value in case.options.values() if type(value) is int)]


def outliers_are_there(study: Study) -> Iterator[str]:
    """With the outlier fill, every floating input differs from the standard fill of the same seed.

    A third of the cases is enough: what is drawn by chance, or is 1 x 1, may be the same."""
    found = [case for case in study.drawn if not any(0 in as_list(n) for n in case.axes.values())]
    inputs: dict[str, list[bool]] = {}
    for case in found[:JUDGED]:
        standard, outlier = (build(study.task, replace(case, fill=fill)) for fill in ("standard", "outlier"))
        for name in study.task.inputs:
            for a, b in zip(tensors_of(standard.get(name)), tensors_of(outlier.get(name)), strict=True):
                if floating(a) and a.numel():
                    inputs.setdefault(name, []).append(not torch.equal(a, b))
    for name, differs in inputs.items():
        if 3 * sum(differs) < len(differs):
            unchanged = f"{differs.count(False)} of {len(differs)} cases"
            yield f"input {name!r} is the same with and without outliers in {unchanged}"


def arguments_are_exercised(study: Study) -> Iterator[str]:
    """Every argument is passed with a value that is not its default, and optional tensors are left out, too."""
    task, every = study.task, [*study.drawn, *study.examples]
    for name, parameter in task.parameters.items():
        if name in ONE_VALUE:
            continue
        if name == task.out:
            used = any(case.out for case in every)
        elif name in task.inputs:
            given = [passes(task, case, name) for case in every]
            used = any(given) and not (task.inputs[name].optional and all(given))
        else:
            values = [case.options[name] for case in every if name in case.options]
            default = parameter.default
            used = any(different(value, default) for value in values)
        if not used:
            yield f"argument {name!r} is never passed with another value than its default"


def passes(task: Task, case: Case, name: str) -> bool:
    return not task.inputs[name].optional or name in case.present or name in case.numbers


def different(value: Any, default: Any) -> bool:
    return type(value) is not type(default) or value != default


def sizes_fit(study: Study) -> Iterator[str]:
    """Two to four sizes; each moves bytes and fits in 2 GB; the last moves more than the first."""
    task = study.task
    if not 2 <= len(task.sizes) <= 4:
        yield f"{len(task.sizes)} sizes, wanted 2 to 4"
    moved = []
    for label in task.sizes:
        case = from_size(task, label)
        moved.append(cost.moved(task, case))
        if moved[-1] <= 0 or any(number <= 0 for number in cost.operations(task, case).values()):
            yield f"size {label}: {moved[-1]} bytes, operations {cost.operations(task, case)}"
        if (footprint := cost.footprint(task, case)) > MEMORY:
            yield f"size {label}: inputs and outputs take {footprint} bytes, more than 2 GiB"
    if moved[0] >= moved[-1]:
        yield f"the last size moves {moved[-1]} bytes, no more than the first with {moved[0]}"


def bytes_are_compulsory(study: Study) -> Iterator[str]:
    """Declared bytes are at most each input read and written once, and each output written once."""
    task = study.task
    for label in task.sizes if task.bytes is not None and task.mode == "call" else ():
        case = from_size(task, label)
        given = [t for value in cost.shapes(task, case).values() for t in tensors_of(value)]
        again = [t for name in task.mutates for t in tensors_of(cost.shapes(task, case).get(name))]
        made = tensors_of(cost.outputs(task, case)) if all(spec.known for spec in task.output) else []
        most = sum(t.numel() * t.element_size() for t in [*given, *again, *made])
        if made and cost.moved(task, case) > most:
            yield f"size {label}: {cost.moved(task, case)} bytes declared, all tensors together have {most}"


def operations_agree(study: Study) -> Iterator[str]:
    """Operations of matrix products and convolutions are what PyTorch counts for the reference."""
    task = study.task
    for label in task.sizes:
        case = from_size(task, label)
        operations = task.operations(cost.known(task, case))
        declared, counted = operations.get("tensor", 0), counted_operations(task, case)
        if counted and not declared and "linalg" not in operations:
            yield f"size {label}: PyTorch counts {counted} operations of products, none are declared as tensor work"
        if counted and declared and not math.isclose(declared, counted, rel_tol=0.02) and task.name not in FEWER:
            yield f"size {label}: {declared} operations declared as tensor work, PyTorch counts {counted}"


def counted_operations(task: Task, case: Case) -> int:
    """Operations of the products in the reference, 0 where it cannot run without memory."""
    positional, named = split_call(task, cost.shapes(task, case))
    if task.mode != "call" or GRADS in named:
        return 0
    with FlopCounterMode(display=False) as counter:
        try:
            task.reference(*positional, **named)
        except Exception:  # data-dependent shapes and factorisations have no form without values
            return 0
    return counter.get_total_flops()


def outputs_match_the_declaration(study: Study) -> Iterator[str]:
    """As many outputs as declared, of the declared shapes and types; calls pass what the signature takes."""
    task = study.task
    required = [p for p in task.parameters.values() if p.default is p.empty and p.kind is not p.VAR_POSITIONAL]
    for case, expected in study.returning:
        positional, named = split_call(task, expected.arguments)
        if len(positional) < len(required) or not set(named) <= set(task.parameters):
            yield f"{case.to_json()}: the call does not fit the signature"
        counts = [spec.count(case.axes) if spec.many else 1 for spec in task.output]
        least = sum(count for count, spec in zip(counts, task.output, strict=True) if not spec.optional)
        if not least <= len(expected.eager) <= sum(counts):
            yield f"{case.to_json()}: {len(expected.eager)} outputs, declared {least} to {sum(counts)}"
        for spec, leaf in zip(task.output, expected.eager, strict=False):
            if isinstance(leaf, Tensor) and not spec.many and spec.known and list(leaf.shape) != spec.shape(case.axes):
                yield f"{case.to_json()}: an output has the shape {list(leaf.shape)}, declared {spec.text}"
            chosen = any(isinstance(value, torch.dtype) for value in case.options.values())
            judged_type = isinstance(leaf, Tensor) and spec.known and not chosen
            if judged_type and NAMES[leaf.dtype] != spec.dtype_name(case.dtype):
                yield f"{case.to_json()}: an output is {NAMES[leaf.dtype]}, declared {spec.text}"


def is_documented(study: Study) -> Iterator[str]:
    """The docstring is long enough to implement from, and there are examples."""
    words = study.task.doc.split()
    if len(words) < 10:
        yield f"a docstring of {len(words)} words is not enough to write a kernel from"
    if not study.task.examples:
        yield "no examples"


def figures(study: Study) -> dict[str, int]:
    """What was looked at: cases judged, arguments, different shapes, element types."""
    cases_seen = [case for case, _ in study.judged]
    shapes = {
        tuple(t.shape) for _, expected in study.judged for v in expected.arguments.values() for t in tensors_of(v)
    }
    types = {t.dtype for _, expected in study.judged for v in expected.arguments.values() for t in tensors_of(v)}
    return {
        "cases": len(cases_seen),
        "drawn": len(study.drawn),
        "arguments": len(study.task.parameters),
        "shapes": len(shapes) or len({str(case.axes or case.options) for case in cases_seen}),
        "dtypes": len(types) or len(study.task.dtypes),
    }


def digest(path: Path, text: str) -> str:
    """A hash of all tensors of a case, given as JSON, of the task in a file."""
    total = hashlib.sha256()
    for value in build(load_task(path), Case.from_json(text)).values():
        for tensor in tensors_of(value):
            data = tensor.detach().resolve_conj().clone(memory_format=torch.contiguous_format).view(-1)
            total.update(data.view(torch.uint8).numpy().tobytes() if data.numel() else b"")
    return total.hexdigest()


AUDITS: dict[str, Callable[[Study], Iterator[str]]] = {
    audit.__name__: audit
    for audit in (
        is_documented,
        right_answers_pass,
        truth_agrees_with_pytorch,
        exact_answers_pass,
        quantized_answers_pass,
        null_answers_fail,
        corruption_fails,
        changed_inputs_are_seen,
        axes_are_off_and_on_blocks,
        several_blocks_are_drawn,
        outliers_are_there,
        arguments_are_exercised,
        sizes_fit,
        bytes_are_compulsory,
        operations_agree,
        outputs_match_the_declaration,
    )
}
