"""A task may take a torch.Generator: it travels by its seed, and another seed must give other numbers."""

import contextlib
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from pytest_kernelbenchx import Uniform, task
from pytest_kernelbenchx.candidate import Candidate
from pytest_kernelbenchx.cases import Case, build, from_example
from pytest_kernelbenchx.judge import messages
from pytest_kernelbenchx.judge.caller import Caller
from pytest_kernelbenchx.judge.judging import judge
from pytest_kernelbenchx.judge.oracle import expect
from pytest_kernelbenchx.judge.verdicts import Verdict
from pytest_kernelbenchx.sandbox.answer import Answer

SEEDED = torch.Generator()


@task(
    inputs={},
    output="T[*S]",
    axes={"S": [[100]]},
    options={"size": [[100]], "generator": [None, SEEDED]},
    sizes={"s": {"S": [100], "size": [100]}},
    examples=[{"S": [100], "size": [100], "generator": SEEDED, "seed": 7}, {"S": [100], "size": [100], "seed": 7}],
    random=Uniform(),
)
def numbers(*size, generator=None):
    return torch.rand(*size, generator=generator)


def test_it_stands_for_one_with_the_seed_of_the_case():
    case = from_example(numbers, 0)
    back = Case.from_json(case.to_json())
    assert back.to_json() == case.to_json()
    assert build(numbers, back)["generator"].initial_seed() == 7
    assert "generator" not in build(numbers, from_example(numbers, 1))
    assert messages.call(numbers, build(numbers, case)) == (
        "numbers([100], generator=torch.Generator().manual_seed(7))"
    )


class Process:
    """Draws from the generator that it is given, or from PyTorch's own; or from the latter always. One that is `stuck`
    begins anew in every call.
    """

    output = ""

    def __init__(self, obeys, stuck=False):
        self.obeys, self.stuck, self.own = obeys, stuck, torch.Generator()

    def load(self, file, source, entries, timeout):
        return Answer(True, {"entry": "numbers", "kernels": [], "configs": 0, "fault": None})

    def call(self, args, kwargs, seed, timeout, *, configs=None, grads=None):
        generator = kwargs.get("generator") if self.obeys else None
        if seed is not None or self.stuck:
            self.own.manual_seed(self.own.initial_seed() if seed is None else seed)
        drawn = torch.rand(*args, generator=generator or self.own)
        return Answer(True, drawn, [], devices=["cpu"])


def verdict(number, obeys, stuck=False, seed=0):
    lease = SimpleNamespace(shared=lambda: contextlib.nullcontext(0.0))
    sandbox = SimpleNamespace(device="cpu", child=lambda compiled: Process(obeys, stuck))
    candidate = Candidate("m", "random", "numbers", None, None, "", "0", Path("numbers.py"))
    caller = Caller(numbers, candidate, sandbox, lease)
    caller.start(5.0)
    case = replace(from_example(numbers, number), seed=seed)
    expected = expect(numbers, case)
    return judge(numbers, case, expected, caller.call(case, expected))


def test_who_ignores_it_fails():
    assert verdict(0, obeys=True).passed
    wrong = verdict(0, obeys=False)
    assert wrong.verdict is Verdict.WRONG_VALUES
    assert "another seed gives the same numbers" in wrong.reason
    assert verdict(1, obeys=False).passed


@pytest.mark.parametrize("seed", [4, 5])
def test_the_next_call_under_one_seed_gives_other_numbers(seed):
    """As a mask does not that follows from torch.initial_seed(): every other case asks for two calls under one seed."""
    assert verdict(1, obeys=True, seed=seed).passed
    stuck = verdict(1, obeys=True, stuck=True, seed=seed)
    assert stuck.passed is (seed % 2 == 0)
