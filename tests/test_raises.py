"""Where PyTorch raises, a candidate must raise as well: one of a few classes, and not whatever a slip gives."""

import pytest
import torch

from conftest import RELU
from pytest_kernelbenchx import task
from pytest_kernelbenchx.cases import from_example
from pytest_kernelbenchx.judge.judging import REFUSALS, Reply, judge
from pytest_kernelbenchx.judge.oracle import expect
from pytest_kernelbenchx.judge.verdicts import Outcome, Verdict


@task(inputs={"x": "f32[N]"}, output="f32[N]", sizes={"s": {"N": 4}}, examples=[dict(x=[-1.0], raises=OSError)])
def root(x):
    if (x < 0).any():
        raise OSError("an element is negative")
    return x.sqrt()


def verdict(exception, verdict=Verdict.RUNTIME_ERROR):
    case = from_example(root, 0)
    failure = Outcome(verdict, f"{exception}: no", facts={"exception": exception})
    return judge(root, case, expect(root, case), Reply(failure=failure))


@pytest.mark.parametrize("exception", ["OSError", "_LinAlgError", *REFUSALS])
def test_pytorchs_own_class_and_a_few_others_are_refusals(exception):
    assert verdict(exception).passed


@pytest.mark.parametrize("exception", ["NameError", "SystemExit", "Skipped", "RecursionError", "KeyError", None])
def test_any_other_is_a_failure(exception):
    outcome = verdict(exception)
    assert outcome.verdict is Verdict.RUNTIME_ERROR
    assert outcome.reason.endswith("; wanted it to raise like PyTorch: OSError (an element is negative)")


@pytest.mark.parametrize("other", [Verdict.OUT_OF_MEMORY, Verdict.NOT_JUDGED, Verdict.COMPILE_ERROR])
def test_another_verdict_stands(other):
    assert verdict("RuntimeError", other).verdict is other


def test_a_call_that_returns_is_wrong():
    case = from_example(root, 0)
    outcome = judge(root, case, expect(root, case), Reply(torch.zeros(1)))
    assert outcome.verdict is Verdict.WRONG_OUTPUT


def test_a_whole_candidate(tree):
    """`gelu` raises RuntimeError for an unknown `approximate`."""
    source = RELU.replace("(input, inplace=False):", "(input):\n    inplace = False")
    body = "\n\ndef gelu(input, approximate='none'):\n    if approximate == 'erf':\n        raise {}('no')\n"
    body += "    relu(input)\n    return torch.nn.functional.gelu(input, approximate=approximate)\n"
    for method, name in (("refuses", "ValueError"), ("slips", "KeyError")):
        tree.candidate(method, source + body.format(name), name="gelu")
    result = tree.run("-m", "not performs")
    assert result.verdicts()["refuses"] != "RUNTIME_ERROR", result.text
    assert result.verdicts()["slips"] == "RUNTIME_ERROR"
    assert "KeyError: 'no'; wanted it to raise like PyTorch: RuntimeError" in result.text
