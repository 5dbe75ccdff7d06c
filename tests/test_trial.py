"""Stage two, with a stand-in for the candidate's process: what a death means, and when drawing ends."""

from types import SimpleNamespace

import pytest
import torch

from pytest_kernelbenchx import task
from pytest_kernelbenchx.cases import Case
from pytest_kernelbenchx.judge.explicit import first_cases, in_layouts
from pytest_kernelbenchx.judge.judging import Reply
from pytest_kernelbenchx.judge.sharing import LARGE_CASES
from pytest_kernelbenchx.judge.trial import CRASHES, Trial
from pytest_kernelbenchx.judge.verdicts import Outcome, OutcomeError, Verdict


@task(inputs={"x": "f32[N]"}, output="f32[N]", sizes={"s": {"N": 4}}, layouts=())
def double(x):
    return x * 2


class Answers:
    """Doubles; dies with `verdict` from `length` elements on."""

    def __init__(self, length=10**9, verdict=Verdict.TIMEOUT):
        self.length, self.verdict = length, verdict
        self.output, self.limit, self.spent, self.launches = "", 5.0, 0.0, {"k": 1}
        self.calls = self.deaths = 0
        self.each = 0.0

    def call(self, case, expected):
        self.calls += 1
        self.spent += self.each
        x = expected.arguments["x"]
        if x.numel() >= self.length:
            self.deaths += 1
            raise OutcomeError(Outcome(self.verdict, "died"))
        return Reply(x * 2, {"x": x}, ["cpu"], launches=int(x.numel() != 300))


@task(inputs={"x": "f32[N]"}, output="f32[N]", sizes={"s": {"N": 4}}, examples=[dict(N=5), dict(N=7)])
def twice(x):
    return x * 2


class IgnoresStrides(Answers):
    def call(self, case, expected):
        x = expected.arguments["x"]
        dense = torch.as_strided(x, x.shape, (1,)) if x.numel() else x
        return Reply(dense * 2, {"x": x}, ["cpu"], launches=1)


def test_quick_effort_tries_every_layout_and_says_that_contiguous_inputs_are_right():
    trial = Trial(twice, IgnoresStrides(), SimpleNamespace(device="cpu", effort="quick", seed=0, processes=1))
    with pytest.raises(OutcomeError) as caught:
        trial.run()
    outcome = caught.value.outcome
    assert outcome.verdict is Verdict.WRONG_VALUES
    assert Case.from_json(outcome.facts["case"]).layouts == {"x": "strided"}
    assert outcome.reason.endswith("; all 2 cases with contiguous inputs are right")
    assert outcome.facts["contiguous_right"] == 2


def test_layouts_are_those_that_the_task_allows():
    wanted = [{"x": name} for name in ("transposed", "strided", "offset")]
    assert [case.layouts for case in in_layouts(twice)] == 2 * wanted
    assert in_layouts(double) == []


def trial_of(caller, device="cpu", effort="quick"):
    return Trial(double, caller, SimpleNamespace(device=device, effort=effort, seed=0, processes=1))


@pytest.mark.parametrize(("calls_more", "wanted"), [(-0.5, Verdict.PASSED), (-5, Verdict.NOT_JUDGED)])
def test_time_that_runs_out_with_the_last_case_leaves_nothing_open(calls_more, wanted):
    """What is spent says nothing where no case was left out."""
    free = Answers()
    assert trial_of(free).run().passed
    slow = Answers()
    slow.each = slow.limit / (free.calls - LARGE_CASES + calls_more)  # the large ones would be dear: they are not tried
    outcome = trial_of(slow).run()
    assert outcome.verdict is wanted
    assert slow.spent > slow.limit


def test_a_stage_has_more_time_on_a_gpu_where_every_case_is_compiled():
    assert trial_of(Answers(), "cpu").most == 5.0
    assert trial_of(Answers(), "cuda").most == 25.0


@task(
    inputs={"x": "f32[N]"},
    output="f32[N]",
    sizes={"s": {"N": 4}},
    examples=[dict(N=3), dict(N=5), dict(N=7, out=True)],
)
def written(x, out=None):
    return torch.mul(x, 2, out=out)


def test_stage_one_does_not_ask_for_out():
    assert [case.axes["N"] for case in first_cases(written)] == [3, 5]


def verdict(trial, length):
    try:
        trial.check(Case(axes={"N": length}))
    except OutcomeError as error:
        return error.outcome.verdict
    return trial.only(Case(axes={"N": length})).verdict


@pytest.mark.parametrize(
    ("device", "length", "wanted"),
    [("cpu", 2000, Verdict.NOT_JUDGED), ("cpu", 100, Verdict.TIMEOUT), ("cuda", 2000, Verdict.TIMEOUT)],
)
def test_a_large_case_may_be_slow_in_the_interpreter_alone(device, length, wanted):
    trial = trial_of(Answers(length), device)
    if device == "cpu":
        assert verdict(trial, 3) is Verdict.PASSED
    assert verdict(trial, length) is wanted


def test_a_first_call_that_hangs_is_a_failure_however_large():
    assert verdict(trial_of(Answers(1)), 2000) is Verdict.TIMEOUT


def test_deaths_end_the_search():
    caller = Answers(40, Verdict.CRASHED)
    with pytest.raises(OutcomeError) as caught:
        trial_of(caller).run()
    assert caught.value.outcome.verdict is Verdict.CRASHED
    assert caller.deaths == CRASHES  # shrinking would have gone on for long


def test_time_that_is_spent_ends_the_drawing():
    caller = Answers()
    caller.spent = 6.0
    outcome = trial_of(caller).run()
    assert outcome.verdict is Verdict.NOT_JUDGED
    assert "raise it with --kbx-timeout" in outcome.reason
    assert caller.calls == 0


def test_cases_without_a_kernel_are_counted():
    caller = Answers()
    trial = trial_of(caller)
    for length, idle in ((100, False), (300, True), (400, False)):
        trial.check(Case(axes={"N": length}))
        assert trial.idle is idle


def test_the_smallest_failure_is_found():
    caller = Answers()

    def wrong(case, expected):
        x = expected.arguments["x"]
        value = x * 2
        if x.numel() > 32:
            value[32:] = torch.nan
        return Reply(value, {"x": x}, ["cpu"], launches=1)

    caller.call = wrong
    with pytest.raises(OutcomeError) as caught:
        trial_of(caller, effort="standard").run()
    assert Case.from_json(caught.value.outcome.facts["case"]).axes == {"N": 33}


@pytest.mark.parametrize(
    ("padding", "length", "wanted"),
    [(0, 5, [dict(N=5, P=0)]), (2, 0, [dict(N=1, P=0)])],
    ids=["an_axis_of_0_is_no_empty_tensor", "an_empty_tensor_has_nothing_to_do"],
)
def test_stage_one_calls_cases_with_something_to_do(padding, length, wanted):
    @task(
        inputs={"x": "f32[N]"},
        output="f32[N + P]",
        axes={"P": (0,)},
        sizes={"s": dict(N=4, P=1)},
        examples=[dict(N=length, P=padding)],
    )
    def padded(x):
        return x

    assert [case.axes for case in first_cases(padded)] == wanted
