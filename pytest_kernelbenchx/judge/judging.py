"""Judge one answer: what the candidate returned and did to its inputs, against what was expected."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import torch
from torch import Tensor

from pytest_kernelbenchx.cases import Case
from pytest_kernelbenchx.judge import compare as comparing
from pytest_kernelbenchx.judge.binomial import Binomial, judge_binomial
from pytest_kernelbenchx.judge.contract import judge_aliases, judge_plain, judge_same
from pytest_kernelbenchx.judge.hidden import HiddenDropout, judge_hidden
from pytest_kernelbenchx.judge.mixed import MixedDropout, judge_mixed
from pytest_kernelbenchx.judge.oracle import Expectation, flatten, widened
from pytest_kernelbenchx.judge.properties import judge_properties
from pytest_kernelbenchx.judge.quantizing import judge_quantized_case
from pytest_kernelbenchx.judge.randomized import Uniform, judge_dropout, judge_uniform
from pytest_kernelbenchx.judge.tolerance import Tolerance
from pytest_kernelbenchx.judge.verdicts import Outcome, Verdict
from pytest_kernelbenchx.sandbox.evidence import Evidence
from pytest_kernelbenchx.sandbox.protocol import Opaque
from pytest_kernelbenchx.task import Task, select

PASSED = Outcome(Verdict.PASSED)
REFUSALS = (
    *("ValueError", "RuntimeError", "TypeError", "IndexError"),
    *("AssertionError", "NotImplementedError", "LinAlgError"),
)
"""What else a candidate may raise where PyTorch raises: PyTorch's own class differs by device and version, and most
candidates assert. NameError, SystemExit, a skipped test or whatever else comes of a slip is no refusal.
"""


@dataclass
class Reply:
    """What came back from a call.

    Attributes:
        value: what was returned; None when it raised.
        after: by parameter, the tensors that were passed, as they are after the call.
        devices: where each returned tensor lies.
        device: where the inputs lie.
        failure: the outcome of a call that raised.
        second: what the same call returned under another seed, for random tasks.
        launches: how many launches of the candidate's own kernels were seen.
        aliases: by number of a returned tensor, that of the input tensor with which it shares memory.
        evidence: what was seen in a call that was watched.
    """

    value: Any = None
    after: dict[str, Any] = field(default_factory=dict)
    devices: list[str] = field(default_factory=list)
    device: str = "cpu"
    failure: Outcome | None = None
    second: Any = None
    launches: int = 0
    aliases: dict[int, int] = field(default_factory=dict)
    evidence: Evidence | None = None


def judge(task: Task, case: Case, expected: Expectation, answer: Reply) -> Outcome:
    """The verdict on one answer."""
    if answer.failure is not None:
        return answer.failure if expected.raises is None else _raised(expected.raises, answer.failure)
    if expected.raises is not None:
        wanted = f"{type(expected.raises).__name__} ({expected.raises})"
        return Outcome(Verdict.WRONG_OUTPUT, f"the call returned, wanted it to raise like PyTorch: {wanted}"[:400])
    checks = (_unchanged, _structure, judge_form, judge_values, judge_changed, _preallocated, _own_memory)
    masks: list[dict[str, Any]] = []
    for check in checks:
        outcome = check(task, case, expected, answer)
        if not outcome.passed:
            return outcome
        masks += outcome.facts.get("masks", [])
    return Outcome(Verdict.PASSED, facts={"errors": _errors(expected, answer), **({"masks": masks} if masks else {})})


def _raised(wanted: Exception, failure: Outcome) -> Outcome:
    """A call that must raise has raised PyTorch's class, or one of REFUSALS. No subclass: RecursionError is a slip."""
    if failure.verdict is not Verdict.RUNTIME_ERROR:
        return failure
    if str(failure.facts.get("exception")).lstrip("_") in (type(wanted).__name__.lstrip("_"), *REFUSALS):
        return PASSED
    told = f"{failure.reason}; wanted it to raise like PyTorch: {type(wanted).__name__} ({wanted})"[:800]
    return replace(failure, reason=told)


def _unchanged(task: Task, case: Case, expected: Expectation, answer: Reply) -> Outcome:
    """Inputs that the contract protects hold the bytes they held before."""
    allowed = {*task.mutates, task.out}
    for name, before in expected.arguments.items():
        if name in allowed:
            continue
        for tensor, after in zip(tensors_of(before), flatten(answer.after[name]), strict=True):
            if isinstance(after, Opaque):
                return Outcome(Verdict.INPUT_MUTATED, f"the call made its input {name!r} a {after.type}")
            if not torch.equal(_bytes(tensor), _bytes(after)):
                differing = int((_bytes(tensor) != _bytes(after)).sum())
                message = f"the call changed its input {name!r} ({differing} bytes), which the task does not allow"
                return Outcome(Verdict.INPUT_MUTATED, message)
    return PASSED


def _own_memory(task: Task, case: Case, expected: Expectation, answer: Reply) -> Outcome:
    """What was passed as `out`, or is changed in place, is returned itself; anything else is a new tensor."""
    if case.out and task.out:
        given = range(len(tensors_of(answer.value)))
        return judge_same(answer.aliases, given, f"{task.out}=") or PASSED
    in_place = expected.shared if _in_place(task, case) else ()
    wrong = judge_aliases(answer.aliases, expected.shared) or judge_same(answer.aliases, in_place, "input, in place")
    return wrong or PASSED


def _in_place(task: Task, case: Case) -> bool:
    """Whether the call asks for a result in the memory of an input: by the option, or as PyTorch writes it, by name."""
    return bool(task.mutates) and (case.options.get("inplace") is True or task.name.endswith("_"))


def _bytes(tensor: Tensor) -> Tensor:
    if not tensor.numel():
        return torch.empty(0, dtype=torch.uint8)
    return tensor.resolve_conj().clone(memory_format=torch.contiguous_format).view(-1).view(torch.uint8)


def tensors_of(value: Any) -> list[Tensor]:
    """The tensors in an argument."""
    return [leaf for leaf in flatten(value) if isinstance(leaf, Tensor)]


def _structure(task: Task, case: Case, expected: Expectation, answer: Reply) -> Outcome:
    """A single output is returned as it is, not in a list."""
    if len(task.output) == 1 and not task.output[0].many and isinstance(answer.value, (tuple, list)):
        kind = type(answer.value).__name__
        return Outcome(Verdict.WRONG_OUTPUT, f"the call returned a {kind}, wanted a tensor alone")
    return PASSED


def judge_form(task: Task, case: Case, expected: Expectation, answer: Reply) -> Outcome:
    """As many outputs as PyTorch gives, each of its type, shape and element type."""
    got, wanted = flatten(answer.value), expected.eager
    if len(got) != len(wanted):
        return Outcome(Verdict.WRONG_OUTPUT, f"the call returned {len(got)} values, wanted {len(wanted)}")
    for number, (value, want) in enumerate(zip(got, wanted, strict=True)):
        name = _name(number, len(wanted))
        if isinstance(value, Opaque):
            if lazy := judge_plain(value.type, name):
                return lazy
            wanted_type = "torch.Tensor" if isinstance(want, Tensor) else type(want).__name__
            return Outcome(Verdict.WRONG_OUTPUT, f"{name} is a {value.type}, wanted exactly {wanted_type}")
        if isinstance(want, Tensor):
            if wrong := comparing.check_form(value, want, name):
                return wrong
        elif isinstance(value, Tensor) or (value is None) != (want is None):
            kind = "None" if want is None else type(want).__name__
            return Outcome(Verdict.WRONG_OUTPUT, f"{name} is a {type(value).__name__}, wanted {kind}")
    return _device(answer)


def _device(answer: Reply) -> Outcome:
    if wrong := [device for device in answer.devices if device != answer.device]:
        return Outcome(Verdict.WRONG_OUTPUT, f"an output lies on {wrong[0]}, the inputs on {answer.device}")
    return PASSED


def _name(number: int, count: int) -> str:
    return "output" if count == 1 else f"output {number}"


def judge_values(task: Task, case: Case, expected: Expectation, answer: Reply) -> Outcome:
    got = flatten(answer.value)
    if task.properties is not None:
        return judge_properties(task.properties(_named(task, case, expected), tuple(got)))
    if task.random is not None:
        return _random(task, case, expected, got, answer)
    if task.quantized is not None:
        return judge_quantized_case(task, case, expected, _named(task, case, expected), got[0])
    for number, (value, truth) in enumerate(zip(got, expected.truth, strict=True)):
        noise = partial(expected.noise.__getitem__, number)
        outcome = _close(task, value, truth, expected.eager[number], noise, _name(number, len(got)))
        if not outcome.passed:
            return outcome
    return PASSED


def _random(task: Task, case: Case, expected: Expectation, got: list[Any], answer: Reply) -> Outcome:
    second, masks = flatten(answer.second), []
    for number, value in enumerate(got):
        name, other = _name(number, len(got)), second[number] if number < len(second) else None
        other = other if isinstance(other, Tensor) and other.shape == value.shape else None
        if isinstance(task.random, Uniform):
            outcome = judge_uniform(value, task.random, second=other, name=name)
        elif isinstance(task.random, Binomial):
            n, p = task.random.parts(**select(task.random.parts, widened(_named(task, case, expected))))
            outcome = judge_binomial(value, n, p, second=other, name=name)
        else:
            outcome = _dropout(task, _named(task, case, expected), expected, number, value, other, name)
        if not outcome.passed:
            return outcome
        masks += [outcome.facts["mask"]] if "mask" in outcome.facts else []
    return Outcome(Verdict.PASSED, facts={"masks": masks})


def _dropout(
    task: Task, arguments: dict[str, Any], expected: Expectation, number: int, got: Any, second: Any, name: str
) -> Outcome:
    p = task.random.rate(arguments)
    how: dict[str, Any] = {"second": second, "tolerance": Tolerance.of(task.tolerance), "name": name}
    if isinstance(task.random, HiddenDropout) and 0 < p < 1:
        how |= {"drawn": expected.truth[number], "kept": expected.kept[number]}
        return judge_hidden(got, task.reference, task.random.recover, arguments, p, **how)
    if p == 0:
        how |= {"eager": expected.eager[number], "noise": expected.noise[number]}
    elif p < 1 and not isinstance(task.random, MixedDropout):
        how |= {"eager": expected.kept_eager[number], "noise": expected.noise[number]}
    if not isinstance(task.random, MixedDropout):
        return judge_dropout(got, expected.kept[number], expected.dropped[number], p, **how)
    parts = task.random.parts
    return judge_mixed(got, *parts(**select(parts, widened(arguments))), p, **how)


def _named(task: Task, case: Case, expected: Expectation) -> dict[str, Any]:
    """Every argument of the case by name, defaults included."""
    defaults = {n: p.default for n, p in task.parameters.items() if p.default is not p.empty}
    return {**defaults, **expected.arguments}


def _close(task: Task, got: Any, truth: Any, eager: Any, noise: Callable[[], Tensor | None], name: str) -> Outcome:
    """By the table alone first; what that rejects is compared with PyTorch's own error and the noise of the case."""
    if truth is None:
        return PASSED
    if not isinstance(got, Tensor):
        got, truth, eager, noise = torch.tensor(got), torch.tensor(truth), None, lambda: None
    if truth.is_floating_point() and not (got.is_floating_point() or got.is_complex()):
        truth = eager  # a floating-point truth of an integer output: the operation rounds at the end
    declared = Tolerance.of(task.tolerance)
    if bool(comparing.agreement(got, truth, tolerance=declared)[0].all()):
        return PASSED
    wrong = comparing.compare(got, truth, eager=eager, noise=noise(), tolerance=declared, name=name)
    if wrong is None:
        return PASSED
    summary, *details = wrong.message(name).splitlines()
    facts = {"errors": wrong.errors, "index": list(wrong.index), "wrong": wrong.count, "total": wrong.total}
    return Outcome(Verdict.WRONG_VALUES, summary, "\n".join(details), facts)


def _recast(name: str, after: Any) -> Outcome | None:
    """WRONG_OUTPUT where a tensor that the call may write to is none any more."""
    if not isinstance(after, Opaque):
        return None
    return Outcome(Verdict.WRONG_OUTPUT, f"{name} is a {after.type}, wanted exactly torch.Tensor")


def judge_changed(task: Task, case: Case, expected: Expectation, answer: Reply) -> Outcome:
    """Inputs that the operation changes hold what PyTorch leaves in them."""
    for name, truth in expected.changed.items():
        eager, after, label = expected.changed_eager[name], answer.after[name], f"input {name!r} after the call"
        outcome = _recast(label, after) or _close(task, after, truth, eager, lambda: None, label)
        if not outcome.passed:
            return outcome
    return PASSED


def _preallocated(task: Task, case: Case, expected: Expectation, answer: Reply) -> Outcome:
    """What was passed as `out` holds the result."""
    if not case.out or task.out is None:
        return PASSED
    for number, (after, got) in enumerate(zip(flatten(answer.after[task.out]), flatten(answer.value), strict=True)):
        noise, name = partial(expected.noise.__getitem__, number), f"{task.out}= after the call"
        if recast := _recast(name, after):
            return recast
        if torch.equal(_bytes(after), _bytes(got)):
            continue
        outcome = _close(task, after, expected.truth[number], expected.eager[number], noise, name)
        if not outcome.passed:
            return outcome
    return PASSED


def _errors(expected: Expectation, answer: Reply) -> dict[str, float]:
    """Cosine, relative L1 and relative RMSE of the worst output."""
    worst: dict[str, float] = {}
    for value, truth in zip(flatten(answer.value), expected.truth, strict=False):
        if isinstance(value, Tensor) and isinstance(truth, Tensor) and value.shape == truth.shape:
            found = comparing.errors(value, truth)
            if not worst or found["relative_rmse"] > worst["relative_rmse"]:
                worst = found
    return worst
