"""From a failing case to the simplest one that fails in the same way, with a stand-in for the judge."""

import zlib
from types import SimpleNamespace

import pytest

from pytest_kernelbenchx import task
from pytest_kernelbenchx.cases import Case, from_example
from pytest_kernelbenchx.drawing import Shapes
from pytest_kernelbenchx.judge.reducing import SHRINKS, alike
from pytest_kernelbenchx.judge.simplifying import allowed, simplify
from pytest_kernelbenchx.judge.trial import DRAWN_SHRINKS, Trial
from pytest_kernelbenchx.judge.verdicts import Outcome, OutcomeError, Verdict


@task(
    inputs={"x": "T[*S]", "y": "T[*S~]"},
    output="T[*S]",
    dtypes=("f32", "f16"),
    options={"scale": [1.0, 2.0], "flag": [False, True]},
    sizes={"s": {"S": [4]}},
    examples=[dict(S=[3, 700], fill="outlier"), dict(x=[1.0, 2.0], y=[3.0])],
)
def scaled(x, y, scale=1.0, flag=False):
    return x * scale + y


@task(
    inputs={"x": "T[M, K]"},
    output="T[M, K]",
    axes={"K": (16, 32, 48, 64)},
    sizes={"s": dict(M=4, K=16)},
    where=lambda M, K: M != 5 and M + K > 20,
)
def tiled(x):
    return x


def failing(about, case, fails, reason="wrong"):
    """What a case becomes whose candidate fails where `fails` says so, and how many cases were judged."""
    runs = []

    def attempt(tried):
        runs.append(tried)
        return Outcome(Verdict.WRONG_VALUES, reason, facts={"case": tried.to_json()}) if fails(tried) else None

    outcome = Outcome(Verdict.WRONG_VALUES, reason, facts={"case": case.to_json()})
    return Case.from_json(simplify(about, outcome, attempt).facts["case"]), runs


ELABORATE = Case(
    axes={"S": [300, 7], "S~y": [1]},
    dtype="f16",
    options={"scale": 2.0, "flag": True},
    layouts={"x": "strided", "y": "offset"},
    fill="outlier",
    seed=17,
)


def test_everything_that_does_not_matter_goes():
    found, _ = failing(scaled, ELABORATE, lambda case: True)
    assert found == Case(axes={"S": [1]})


@pytest.mark.parametrize(
    ("fails", "kept"),
    [
        (lambda case: case.dtype == "f16", {"dtype": "f16"}),
        (lambda case: case.fill == "outlier" and case.seed == 17, {"fill": "outlier", "seed": 17}),
        (lambda case: case.options.get("flag"), {"options": {"flag": True}}),
        (lambda case: case.layouts.get("y") == "offset", {"layouts": {"y": "offset"}}),
    ],
)
def test_what_matters_stays(fails, kept):
    found, _ = failing(scaled, ELABORATE, fails)
    assert {field: getattr(found, field) for field in kept} == kept
    plain = Case(axes=found.axes)
    others = {"dtype", "options", "layouts", "fill", "seed"} - set(kept)
    assert all(getattr(found, field) == getattr(plain, field) for field in others)


def test_an_axis_shrinks_to_one_beside_a_block():
    found, runs = failing(scaled, ELABORATE, lambda case: case.axes["S"][0] > 128 and len(case.axes["S"]) > 1)
    assert found.axes == {"S": [129, 1], "S~y": [1]}
    assert len(runs) <= 25


def test_a_tensor_that_broadcasts_follows():
    case = Case(axes={"S": [40, 9], "S~y": [40, 1]})
    found, _ = failing(scaled, case, lambda case: len(case.axes["S"]) == 2 and case.axes["S"][0] >= 5)
    assert found.axes == {"S": [5, 1], "S~y": [5, 1]}


def test_an_example_becomes_a_case_of_any_length():
    found, _ = failing(scaled, from_example(scaled, 0), lambda case: case.axes["S"][-1] > 600)
    assert found.example is None
    assert found.axes == {"S": [1025]}


def test_literal_values_that_matter_stay():
    case = from_example(scaled, 1)
    assert failing(scaled, case, lambda case: case.example is not None)[0] == case


def test_only_what_the_task_can_be_asked_for():
    """Lengths are those that are declared, and where= has a say."""
    found, runs = failing(tiled, Case(axes={"M": 9, "K": 64}), lambda case: True)
    assert found.axes == {"M": 1, "K": 32}
    assert all(case.axes["K"] in (16, 32, 48, 64) for case in runs)
    assert all(allowed(tiled, case) for case in runs)
    assert not allowed(tiled, Case(axes={"M": 5, "K": 64}))


@task(inputs={"x": "T[*S]"}, output="T[*S]", axes={"S": Shapes(2, 3)}, sizes={"s": {"S": [2, 2]}})
def planes(x):
    return x


def test_as_many_axes_as_the_task_wants():
    found, _ = failing(planes, Case(axes={"S": [30, 40]}), lambda case: True)
    assert found.axes == {"S": [1, 1]}


def test_other_exceptions_are_other_failures():
    first = Outcome(Verdict.RUNTIME_ERROR, "ValueError: no")
    assert alike(Outcome(Verdict.RUNTIME_ERROR, "ValueError: other words"), first)
    assert not alike(Outcome(Verdict.RUNTIME_ERROR, "TypeError: no"), first)
    assert not alike(Outcome(Verdict.WRONG_VALUES, "ValueError: no"), first)


class Erratic(Trial):
    """Some cases fail, which no shrinking makes sense of."""

    def judged(self, case):
        self.tally.count(case, 1, self.first_failure is not None)
        small = case.example is not None or self.task.elements(case.axes) < 100
        if small or zlib.crc32(case.to_json().encode()) % 4:
            return Outcome(Verdict.PASSED)
        return Outcome(Verdict.OUT_OF_BOUNDS, "wrong", facts={"case": case.to_json()})


def test_no_more_runs_than_there_are_to_be():
    caller = SimpleNamespace(spent=0.0, limit=100.0, output="", launches={})
    trial = Erratic(scaled, caller, SimpleNamespace(device="cpu", effort="standard", seed=0, processes=1))
    with pytest.raises(OutcomeError) as caught:
        trial.run()
    assert DRAWN_SHRINKS <= caught.value.outcome.facts["after_failure"] <= SHRINKS
