"""The suite audits itself: for every task, right answers pass its own judgement and empty ones fail."""

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from torch import Tensor

from conftest import TASKS
from pytest_kernelbenchx.cases import build, from_example, from_size, split_call
from pytest_kernelbenchx.drawing import Budget, cases
from pytest_kernelbenchx.judge.caller import poisoned
from pytest_kernelbenchx.judge.judging import Reply, judge, tensors_of
from pytest_kernelbenchx.judge.oracle import copied, expect, flatten, run
from pytest_kernelbenchx.judge.verdicts import Outcome, Verdict
from pytest_kernelbenchx.loading import task_files
from pytest_kernelbenchx.performance import cost
from pytest_kernelbenchx.plugin import CATEGORIES

QUIET = settings(database=None, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
DRAWN, SMALL = 12, Budget(elements=2**11, flops=2**18)
TASK_FILES = task_files(TASKS)


def some_cases(task, count=DRAWN):
    """The task's examples, and cases that Hypothesis draws from one seed."""
    found = [from_example(task, number) for number in range(len(task.examples))]

    @settings(
        max_examples=count, database=None, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
    )
    @given(case=cases(task, SMALL))
    def collect(case):
        found.append(case)

    collect()
    return found


def answer(task, case, expected, change=lambda leaf, number: leaf, seed=0):
    """What a candidate would send back that computes with PyTorch and changes each output by `change`."""
    arguments = copied(expected.arguments)
    torch.manual_seed(seed)
    try:
        leaves, _ = run(task, arguments)
    except Exception as error:
        raised = Outcome(Verdict.RUNTIME_ERROR, str(error))
        return Reply(failure=raised)
    value = [change(leaf, number) for number, leaf in enumerate(leaves)]
    after = {name: leaf if tensors_of(leaf) else [] for name, leaf in arguments.items()}
    if case.out and task.out:
        after[task.out] = [poisoned(leaf).copy_(got) for leaf, got in zip(expected.eager, value, strict=True)]
    devices = [leaf.device.type for leaf in value if isinstance(leaf, Tensor)]
    single = len(task.output) == 1 and not task.output[0].many
    return Reply(value[0] if single else value, after, devices)


def replies(task, case, expected, change):
    reply = answer(task, case, expected, change)
    if task.random is not None:
        reply.second = answer(task, case, expected, change, seed=1).value
    return reply


def exact(expected):
    """A change that puts the double-precision result, rounded, in place of PyTorch's."""
    return lambda leaf, number: expected.truth[number].to(leaf.dtype) if isinstance(leaf, Tensor) else leaf


def test_layout_of_the_folder():
    assert {path.parent.name for path in TASK_FILES} == set(CATEGORIES)
    assert len({path.stem for path in TASK_FILES}) == len(TASK_FILES)


def test_declaration_is_documented(task):
    assert len(task.doc.split()) >= 25, "the docstring must say enough to write a kernel from"
    assert 2 <= len(task.sizes) <= 4
    assert task.examples


def test_right_answers_pass(task):
    """PyTorch's own answer passes (but for quantized tasks), and so does the exact one, rounded."""
    for case in some_cases(task):
        expected = expect(task, case)
        if expected.raises is not None:
            assert judge(task, case, expected, answer(task, case, expected)).passed
            continue
        changes = [] if task.random or task.properties or task.quantized else [exact(expected)]
        changes += [] if task.quantized else [lambda leaf, number: leaf]
        for change in changes:
            outcome = judge(task, case, expected, replies(task, case, expected, change))
            assert outcome.passed, f"{case.to_json()}: {outcome}"


def test_full_precision_is_not_quantized(task):
    if task.quantized is None:
        pytest.skip("not a quantized task")
    verdicts = set()
    for case in some_cases(task):
        expected = expect(task, case)
        verdicts.add(judge(task, case, expected, replies(task, case, expected, lambda leaf, number: leaf)).verdict)
    assert verdicts == {Verdict.NOT_QUANTIZED, Verdict.PASSED}  # where the result says too little, it passes


def wide(leaf):
    return leaf.to(torch.complex128 if leaf.is_complex() else torch.float64)


def null_answers(leaf, quantized):
    """Answers that do no work; for exact tasks, also one that is off by a constant."""
    yield torch.zeros_like(leaf)
    yield torch.ones_like(leaf)
    if (leaf.is_floating_point() or leaf.is_complex()) and leaf.numel() > 1:
        yield torch.full_like(leaf, wide(leaf).mean().item())
        if leaf.dim() > 1:
            yield wide(leaf).mean(-1, keepdim=True).expand_as(leaf).to(leaf.dtype)
        if not quantized:
            yield leaf + wide(leaf).abs().mean().to(leaf.dtype) / 4


def says_nothing(leaf, null):
    """Whether a null answer is as good as the true one."""
    return leaf.numel() == 0 or torch.allclose(wide(leaf), wide(null), rtol=1e-2, atol=0, equal_nan=True)


def test_answers_without_work_fail(task):
    tried = 0
    for case in some_cases(task):
        expected = expect(task, case)
        if expected.raises is not None or any(leaf is None for leaf in expected.eager[:1]):
            continue
        first = expected.eager[0]
        if not isinstance(first, Tensor):
            continue
        for null in null_answers(first, task.quantized is not None):
            if says_nothing(first, null) or (task.random is not None and first.numel() < 500):
                continue
            if task.quantized is not None and first.numel() < 16:
                continue
            reply = replies(task, case, expected, lambda leaf, number, null=null: null if number == 0 else leaf)
            if case.out and task.out:
                reply.after[task.out] = flatten(reply.value)
            outcome = judge(task, case, expected, reply)
            assert outcome.verdict is Verdict.WRONG_VALUES, f"{case.to_json()}: {null.flatten()[:4]} gave {outcome}"
            tried += 1
    assert tried >= 5


def test_one_wrong_element_fails(task):
    tried = 0
    for case in some_cases(task):
        expected = expect(task, case)
        if expected.raises is not None or not isinstance(expected.eager[0], Tensor):
            continue
        leaf = expected.eager[0]
        if (
            task.quantized
            or task.random
            or not leaf.is_floating_point()
            or leaf.numel() < 2
            or not leaf.isfinite().all()
        ):
            continue
        wrong = leaf.clone(memory_format=torch.contiguous_format).view(-1)
        wrong[-1] += leaf.double().abs().max().clamp(min=1e-3).to(leaf.dtype)
        reply = answer(task, case, expected, lambda _, n, leaf=leaf, w=wrong: w.view(leaf.shape) if n == 0 else _)
        if case.out and task.out:
            reply.after[task.out] = flatten(reply.value)
        outcome = judge(task, case, expected, reply)
        assert outcome.verdict is Verdict.WRONG_VALUES, f"{case.to_json()}: {outcome}"
        tried += 1
    scalar = not any(spec.axes for spec in task.output)
    assert tried or scalar or task.quantized or task.random or not expected.eager[0].is_floating_point()


def test_changed_inputs_are_seen(task):
    for case in some_cases(task, 4):
        expected = expect(task, case)
        if expected.raises is not None:
            continue
        reply = replies(task, case, expected, lambda leaf, number: leaf)
        tensors = [name for name in task.inputs if isinstance(reply.after.get(name), Tensor)]
        protected = [name for name in tensors if name not in task.mutates]
        for name in protected:
            changed = reply.after[name].clone(memory_format=torch.contiguous_format)
            if not changed.numel():
                continue
            changed.view(-1).view(torch.uint8)[0] ^= 1
            touched = Reply(reply.value, {**reply.after, name: changed}, reply.devices, second=reply.second)
            assert judge(task, case, expected, touched).verdict is Verdict.INPUT_MUTATED


def test_sizes_can_be_made(task):
    """Every size moves some bytes and fits a card; the last moves more than the first."""
    moved = []
    for label in task.sizes:
        case = from_size(task, label)
        moved.append(cost.moved(task, case))
        assert moved[-1] > 0
        assert cost.footprint(task, case) <= 2**31
    assert moved[0] < moved[-1]


def test_calls_pass_what_the_signature_takes(task):
    for case in some_cases(task, 4):
        positional, named = split_call(task, build(task, case))
        required = [p for p in task.parameters.values() if p.default is p.empty and p.kind is not p.VAR_POSITIONAL]
        assert len(positional) >= len(required)
        assert set(named) <= set(task.parameters)


def test_flattened_outputs_match_the_declaration(task):
    for case in some_cases(task, 4):
        expected = expect(task, case)
        if expected.raises is None:
            counts = [spec.count(case.axes) if spec.many else 1 for spec in task.output]
            least = sum(count for count, spec in zip(counts, task.output, strict=True) if not spec.optional)
            assert least <= len(flatten(expected.eager)) <= sum(counts)
            for spec, leaf in zip(task.output, flatten(expected.eager), strict=False):
                assert spec.many or not spec.known or leaf is None or list(leaf.shape) == spec.shape(case.axes)
