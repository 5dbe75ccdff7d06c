"""Every task that takes `out`, or changes an input, sees whether a candidate does."""

from dataclasses import replace

import pytest
import torch
from audits import Study, answer, tensors_of

from conftest import TASKS
from pytest_kernelbenchx.judge.caller import preallocated
from pytest_kernelbenchx.judge.contract import judge_same
from pytest_kernelbenchx.judge.judging import judge
from pytest_kernelbenchx.judge.oracle import expect, flatten
from pytest_kernelbenchx.judge.verdicts import Verdict
from pytest_kernelbenchx.loading import load_task, task_files

EVERY = [load_task(path) for path in task_files(TASKS)]
WITH_OUT = {task.name: task for task in EVERY if task.out}
IN_PLACE = {task.name: task for task in EVERY if task.mutates}
RETURNED = {name: task for name, task in IN_PLACE.items() if task.category == "activation" or name.endswith("_")}
WRONG = (Verdict.WRONG_VALUES, Verdict.WRONG_OUTPUT)


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Small tensors: more threads only wait for each other when tests run side by side."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def cases(task, want):
    """Examples and small drawn cases with what is expected of them, for which `want` holds."""
    study = Study(task)
    for case in [*study.examples, *study.few(16)]:
        if want(case):
            expected = expect(task, case)
            if expected.raises is None and any(t.numel() for t in expected.eager if isinstance(t, torch.Tensor)):
                yield case, expected


def reply_to(task, case, expected):
    reply = answer(task, case, expected, seed=case.seed)
    if task.random is not None:
        reply.second = answer(task, case, expected, seed=case.seed + 1).value
    return reply


def differs(a, b):
    """By more than a tolerance could allow."""
    pairs = zip(tensors_of(a), tensors_of(b), strict=True)
    return any(not torch.allclose(x.double(), y.double(), rtol=0.05, equal_nan=True) for x, y in pairs)


@pytest.mark.parametrize("name", WITH_OUT)
def test_out_is_written_and_returned(name):
    task, seen = WITH_OUT[name], 0
    for case, expected in cases(task, lambda case: case.out):
        right = reply_to(task, case, expected)
        assert judge(task, case, expected, right).passed
        ignored = replace(right, after={**right.after, task.out: flatten(preallocated(expected.eager))}, aliases={})
        outcome = judge(task, case, expected, ignored)
        assert outcome.verdict in WRONG, outcome
        fresh = judge(task, case, expected, replace(right, aliases={}))
        assert fresh.verdict is Verdict.WRONG_OUTPUT
        assert f"is a new tensor, wanted the one that was given as {task.out}=" in fresh.reason
        places = flatten(right.after[task.out])
        if len(places) > 1:  # all but one are written
            half = [*places[:-1], flatten(preallocated(expected.eager))[-1]]
            assert judge(task, case, expected, replace(right, after={**right.after, task.out: half})).verdict in WRONG
        seen += 1
    assert seen >= 2


@pytest.mark.parametrize("name", IN_PLACE)
def test_inputs_that_the_operation_changes_are_changed(name):
    task, seen = IN_PLACE[name], set()
    for case, expected in cases(task, lambda case: True):
        right = reply_to(task, case, expected)
        if not judge(task, case, expected, right).passed:
            continue
        for changed, after in expected.changed_eager.items():
            before = expected.arguments[changed]
            if not differs(before, after):
                continue
            outcome = judge(task, case, expected, replace(right, after={**right.after, changed: before}))
            assert outcome.verdict in WRONG, (changed, case.to_json())
            seen |= {changed}
    wanted = set(task.mutates) if task.mode == "call" else set()
    assert seen == wanted


@pytest.mark.parametrize("name", RETURNED)
def test_what_is_changed_in_place_is_returned(name):
    task, seen = RETURNED[name], 0
    in_place = lambda case: (case.options.get("inplace") is True or name.endswith("_")) and not case.out  # noqa: E731
    for case, expected in cases(task, in_place):
        right = reply_to(task, case, expected)
        assert judge(task, case, expected, right).passed
        outcome = judge(task, case, expected, replace(right, aliases={}))
        assert outcome.verdict is Verdict.WRONG_OUTPUT
        assert "is a new tensor, wanted the one that was given as input, in place" in outcome.reason
        seen += 1
    assert seen


def test_same_tensor():
    assert judge_same({0: 3}, [0], "out=") is None
    assert judge_same({}, [], "out=") is None
    assert judge_same({0: 3}, [0, 1], "out=").reason.startswith("output 1 is a new tensor")
