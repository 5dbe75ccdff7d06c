"""What the judge asks of a candidate's process, with a stand-in for it."""

import contextlib
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from pytest_kernelbenchx import task
from pytest_kernelbenchx.candidate import Candidate
from pytest_kernelbenchx.cases import Case
from pytest_kernelbenchx.judge.caller import Caller, preallocated
from pytest_kernelbenchx.judge.judging import Reply, judge
from pytest_kernelbenchx.judge.oracle import expect
from pytest_kernelbenchx.judge.verdicts import Outcome, OutcomeError, Verdict
from pytest_kernelbenchx.sandbox.answer import Answer
from pytest_kernelbenchx.sandbox.process import Died
from pytest_kernelbenchx.sandbox.protocol import Opaque


@task(inputs={"x": "f32[N]"}, output="f32[N]", sizes={"s": {"N": 4}})
def double(x, out=None):
    return x * 2


class Process:
    """Answers rightly, but for the configurations in `broken`, which fail as `error` says."""

    def __init__(self, configs, broken, error):
        self.configs, self.broken, self.error = configs, broken, error
        self.asked, self.output = [], ""

    def load(self, file, source, entries, timeout):
        return Answer(True, {"entry": "double", "kernels": [], "configs": self.configs, "fault": None})

    def call(self, args, kwargs, seed, timeout, *, configs=None, grads=None):
        self.asked.append(configs)
        if configs in self.broken:
            problem = {"verdict": Verdict.RUNTIME_ERROR, "type": self.error, "message": "no", "traceback": ""}
            return Answer(False, error=problem)
        after = [*args, *(value for value in kwargs.values() if isinstance(value, torch.Tensor))]
        launches = [{"kernel": name, "grid": [1, 1, 1], "own": name == "k"} for name in ("k", "other")]
        return Answer(True, args[0] * 2, after, devices=["cuda"], launches=launches)

    def kill(self):
        pass


class Counted:
    """A lease that counts how often it was held."""

    def __init__(self):
        self.held = 0

    @contextlib.contextmanager
    def shared(self):
        self.held += 1
        yield 0.0


def caller_of(process, device="cuda"):
    sandbox = SimpleNamespace(device=device, child=lambda compiled: process)
    candidate = Candidate("m", "math", "double", None, None, "", "0" * 64, Path("double.py"))
    caller = Caller(double, candidate, sandbox, Counted())
    caller.start(5.0)
    return caller


def calls(caller, count):
    case = Case(axes={"N": 4})
    return [caller.call(case, expect(double, case)) for _ in range(count)]


def test_every_configuration_has_its_turn():
    process = Process(3, broken=(), error="")
    caller = caller_of(process)
    assert all(reply.failure is None for reply in calls(caller, 7))
    assert process.asked == [0, 1, 2, 0, 1, 2, 0]
    assert caller.launches == {"k": 7}
    assert caller.lease.held == 8  # the import and every call, so that a timing waits for one call at most


@pytest.mark.parametrize("error", ["triton.runtime.errors.OutOfResources", "PTXASError"])
def test_configurations_that_tuning_would_pass_over_are_dropped(error):
    process = Process(3, broken=(1,), error=error)
    assert all(reply.failure is None for reply in calls(caller_of(process), 4))
    assert process.asked == [0, 1, 2, 0, 2]


def test_a_configuration_that_fails_otherwise_is_the_candidates_fault():
    replies = calls(caller_of(Process(3, broken=(1,), error="RuntimeError")), 2)
    assert [reply.failure is None for reply in replies] == [True, False]


def test_where_no_configuration_fits_tuning_has_the_last_word():
    process = Process(2, broken=(0, 1), error="OutOfResources")
    assert calls(caller_of(process), 1)[0].failure is None
    assert process.asked == [0, 1, None]


def test_the_interpreter_chooses_for_itself():
    process = Process(3, broken=(), error="")
    calls(caller_of(process, "cpu"), 2)
    assert process.asked == [None, None]


def test_a_tensor_in_a_list_is_no_tensor():
    case = Case(axes={"N": 4})
    expected = expect(double, case)
    reply = caller_of(Process(1, broken=(), error=""), "cpu").call(case, expected)
    reply.devices = ["cpu"]
    assert judge(double, case, expected, reply).passed
    reply.value = [reply.value]
    outcome = judge(double, case, expected, reply)
    assert outcome.verdict is Verdict.WRONG_OUTPUT
    assert outcome.reason == "the call returned a list, wanted a tensor alone"


class Lost(Process):
    """Loses the process that starts candidates in its first calls."""

    losses = 0

    def call(self, *args, **kwargs):
        if self.losses:
            self.losses -= 1
            raise Died(Outcome(Verdict.TAMPERED, "killed", facts={"lost": True}))
        return super().call(*args, **kwargs)


def test_a_neighbours_kill_is_not_held_against_a_candidate():
    process = Lost(1, broken=(), error="")
    process.losses = 1
    assert calls(caller_of(process), 1)[0].failure is None


def test_who_kills_again_did_it():
    process = Lost(1, broken=(), error="")
    process.losses = 2
    with pytest.raises(OutcomeError) as caught:
        calls(caller_of(process), 1)
    assert caught.value.outcome.verdict is Verdict.TAMPERED


def test_out_is_passed_poisoned_and_comes_back_by_name():
    process = Process(1, broken=(), error="")
    case = Case(axes={"N": 4}, out=True)
    reply = caller_of(process).call(case, expect(double, case))
    assert torch.isnan(reply.after["out"]).all()
    assert torch.equal(reply.after["x"], expect(double, case).arguments["x"])


@task(inputs={"x": "f32[N]"}, output=["f32[N]", "i32[N]"], sizes={"s": {"N": 4}})
def halves(x, out=None):
    return x / 2, (x / 2).to(torch.int32)


def test_out_of_several_outputs_is_a_tuple():
    case = Case(axes={"N": 4}, out=True)
    expected = expect(halves, case)
    first, second = preallocated(expected.eager)
    assert torch.isnan(first).all()
    assert (second == torch.iinfo(torch.int32).max).all()
    got, x = tuple(expected.eager), expected.arguments["x"]
    assert judge(halves, case, expected, Reply(got, {"x": x, "out": list(got)}, aliases={0: 1, 1: 2})).passed
    forgotten = judge(halves, case, expected, Reply(got, {"x": x, "out": [got[0], second]}))
    assert forgotten.verdict is Verdict.WRONG_VALUES
    assert forgotten.reason.startswith("out= after the call: 4 of 4 elements are wrong")
    recast = judge(halves, case, expected, Reply(got, {"x": x, "out": [got[0], Opaque("mine.Tensor")]}))
    assert recast.verdict is Verdict.WRONG_OUTPUT
    assert recast.reason == "out= after the call is a mine.Tensor, wanted exactly torch.Tensor"


@task(inputs={"tensors": "list[f32[N_i]]", "y": "f32[N]"}, output="f32[N]", sizes={"s": {"N_i": [4], "N": 4}})
def several(*tensors, y):
    return y * len(tensors)


def test_arguments_after_a_star_come_back_by_name():
    case = Case(axes={"N_i": [2, 3], "N": 4})
    arguments = expect(several, case).arguments
    found = Caller._by_name(SimpleNamespace(task=several), arguments, [*arguments["tensors"], arguments["y"]])
    assert torch.equal(found["y"], arguments["y"])
    assert [len(tensor) for tensor in found["tensors"]] == [2, 3]
