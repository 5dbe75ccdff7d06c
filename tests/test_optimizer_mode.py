"""Optimizers: a constructor and `step()`, judged by the parameters after three steps with three lists of gradients."""

from pathlib import Path

import pytest
import torch

from pytest_kernelbenchx import task
from pytest_kernelbenchx.candidate import Candidate
from pytest_kernelbenchx.cases import Case, build, from_example, from_size, split_call
from pytest_kernelbenchx.judge import messages
from pytest_kernelbenchx.judge.caller import Caller
from pytest_kernelbenchx.judge.judging import judge
from pytest_kernelbenchx.judge.oracle import expect, flatten
from pytest_kernelbenchx.performance import cost
from pytest_kernelbenchx.performance.lease import NoLease
from pytest_kernelbenchx.sandbox.host import Sandbox


@task(
    inputs={"params": "list[f32[*M, N_i]]", "grads": "list[f32[*M, N_i]]"},
    output="list[f32[*M, N_i]]",
    axes={"M": [[], [2]]},
    options={"lr": [0.1, 0.5]},
    mutates=["params"],
    mode="optimizer",
    sizes={"small": {"M": [], "N_i": [64, 4]}},
    examples=[
        {"M": [], "N_i": [2], "params": [[1.0, 2.0]], "grads": [[[1.0, 0.0]], [[0.0, 1.0]], [[2.0, 2.0]]], "lr": 0.5},
        {"M": [2], "N_i": [3, 5]},
    ],
)
def Descent(params, lr=0.1):
    return torch.optim.SGD(params, lr=lr, momentum=0.5)


SOURCE = """
import torch
class Descent:
    def __init__(self, params, lr=0.1):
        self.params, self.lr, self.buffers = list(params), lr, None
    @torch.no_grad()
    def step(self):
        grads = [p.grad for p in self.params]
        if self.buffers is None:
            self.buffers = [torch.zeros_like(g) for g in grads]
        for p, g, b in zip(self.params, grads, self.buffers):
            b.mul_(0.5).add_(g)
            p.sub_(self.lr * b)
"""
WRONG = {
    "nothing done": (("            p.sub_(self.lr * b)\n", "            pass\n"), "WRONG_VALUES"),
    "no momentum": (("self.lr * b", "self.lr * g"), "WRONG_VALUES"),
    "the learning rate ignored": (("self.lr * b", "0.1 * b"), "WRONG_VALUES"),
    "one parameter left out": (("zip(self.params,", "zip(self.params[:1],"), "WRONG_VALUES"),
    "the first step alone": (("        grads =", "        if self.buffers: return\n        grads ="), "WRONG_VALUES"),
    "the gradients changed": (("p.sub_(self.lr * b)", "p.sub_(self.lr * b); g.zero_()"), "INPUT_MUTATED"),
    "no step": (("def step", "def advance"), "RUNTIME_ERROR"),
}


@pytest.fixture(scope="module")
def sandbox():
    made = Sandbox()
    yield made
    made.close()


def judged(sandbox, source, number):
    candidate = Candidate("m", "optimizer", "Descent", None, None, source, "", Path("Descent.py"))
    caller = Caller(Descent, candidate, sandbox, NoLease())
    caller.start(60.0)
    try:
        case = from_example(Descent, number)
        expected = expect(Descent, case)
        return judge(Descent, case, expected, caller.call(case, expected))
    finally:
        caller.close()


def test_gradients_of_a_case():
    case = Case(axes={"M": [2], "N_i": [3, 5]}, seed=7)
    grads = build(Descent, case)["grads"]
    assert [[list(g.shape) for g in step] for step in grads] == [[[2, 3], [2, 5]]] * 3
    assert len({float(g.sum()) for step in grads for g in step}) == 6
    again = build(Descent, case)["grads"]
    assert all(torch.equal(a, b) for a, b in zip(flatten(grads), flatten(again), strict=True))
    literal = build(Descent, from_example(Descent, 0))["grads"]
    assert [step[0].tolist() for step in literal] == [[1.0, 0.0], [0.0, 1.0], [2.0, 2.0]]


def test_the_constructor_does_not_get_the_gradients():
    arguments = build(Descent, from_example(Descent, 1))
    positional, named = split_call(Descent, arguments)
    assert [len(value) for value in positional] == [2]
    assert named == {}
    assert messages.call(Descent, arguments) == "Descent([f32[2, 3], f32[2, 5]]) and 3 steps"


def test_truth_is_three_steps():
    expected = expect(Descent, from_example(Descent, 0))
    assert expected.truth[0].dtype is torch.float64
    torch.testing.assert_close(expected.truth[0], torch.tensor([-0.875, 0.25], dtype=torch.float64))
    assert torch.equal(expected.arguments["params"][0], torch.tensor([1.0, 2.0]))


def test_memory_of_a_size():
    assert cost.footprint(Descent, from_size(Descent, "small")) == 5 * 68 * 4


@pytest.mark.parametrize("number", [0, 1])
def test_right_optimizer_passes(sandbox, number):
    outcome = judged(sandbox, SOURCE, number)
    assert outcome.passed, outcome


@pytest.mark.parametrize("kind", WRONG)
def test_wrong_optimizer_fails(sandbox, kind):
    (before, after), verdict = WRONG[kind]
    assert before in SOURCE
    assert judged(sandbox, SOURCE.replace(before, after), 1 if "one parameter" in kind else 0).verdict.name == verdict
