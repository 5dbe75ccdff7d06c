"""--kbx-case: one case, as a failure message prints it."""

import json
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import MagicMock

import pytest

from conftest import RELU, TASKS
from pytest_kernelbenchx import settings
from pytest_kernelbenchx.candidate import Candidate
from pytest_kernelbenchx.cases import Case, from_example
from pytest_kernelbenchx.judge.chosen import chosen_case
from pytest_kernelbenchx.judge.evaluation import Evaluation
from pytest_kernelbenchx.judge.verdicts import Outcome, Verdict
from pytest_kernelbenchx.loading import load_task

GOOD = {"axes": {"S": [3, 5]}, "dtype": "f16", "layouts": {"input": "strided"}, "seed": 7}


@pytest.fixture(scope="module")
def relu():
    return load_task(TASKS / "activation" / "relu.py")


def complaint(task, **changes):
    case = {key: value for key, value in {**GOOD, **changes}.items() if value is not None}
    with pytest.raises(ValueError, match=r"\w") as raised:
        chosen_case(task, json.dumps(case))
    assert "\n" not in str(raised.value)
    return str(raised.value)


def test_a_case_that_fits(relu):
    assert chosen_case(relu, json.dumps(GOOD)) == Case(**GOOD)
    for number in range(len(relu.examples)):
        case = from_example(relu, number)
        assert chosen_case(relu, case.to_json()) == case


def test_what_does_not_fit_is_named(relu):
    assert complaint(relu, axes={"N": 3}) == "unknown axis 'N'; there are S"
    assert complaint(relu, axes={}) == "axis 'S' is missing"
    assert complaint(relu, axes={"S": 3}) == "axis 'S' is 3, wanted a list of lengths"
    assert complaint(relu, axes={"S": [3, -1]}) == "axis 'S' is [3, -1], wanted a list of lengths"
    assert complaint(relu, axes=[3]) == "axes is [3], wanted an object"
    assert complaint(relu, dtype="float32").startswith("unknown element type 'float32'")
    count = len(relu.examples)
    assert complaint(relu, example=99) == f"there is no example 99, relu has {count}, counted from 0"
    assert complaint(relu, example=-1).startswith("there is no example -1")
    assert complaint(relu, example="2").startswith("there is no example '2'")
    assert complaint(relu, options={"in_place": True}) == "unknown option 'in_place'; did you mean inplace?"
    assert complaint(relu, layouts={"input": "transpose"}) == "unknown layout 'transpose'; did you mean transposed?"
    assert complaint(relu, layouts={"imput": "strided"}) == "unknown input 'imput'; did you mean input?"
    assert complaint(relu, fill="edgy").startswith("unknown fill 'edgy'")
    assert complaint(relu, seed="x") == "seed is 'x', wanted a whole number"


def test_an_option_that_has_no_default_must_be_there():
    softmax = load_task(TASKS / "math" / "softmax.py")
    case = json.dumps({"axes": {"S": [3]}, "dtype": "f32"})
    with pytest.raises(ValueError, match="option 'dim' is missing, and softmax cannot be called without it"):
        chosen_case(softmax, case)
    assert chosen_case(softmax, json.dumps({"axes": {"S": [3]}, "options": {"dim": 0}})).options == {"dim": 0}


def test_a_shape_that_no_input_has():
    rand = load_task(TASKS / "random" / "rand.py")
    case = Case(axes={"S": [64, 13]}, options={"size": [64, 13]})
    assert chosen_case(rand, case.to_json()) == case
    with pytest.raises(ValueError, match="axis 'S' is 'x'"):
        chosen_case(rand, '{"axes": {"S": "x"}, "options": {"size": [3]}}')


def test_inputs_that_cannot_be_made(relu):
    assert complaint(relu, axes={"S": [10**12]}, layouts={}).startswith("the inputs can't be made from it: ")


def test_no_json(inline):
    for text in ("{", "[1]", '{"axis": {"S": [3]}}', "null"):
        said = inline.complaint(f"--kbx-case={text}")
        assert f"--kbx-case={text}: no case: " in said
        assert "wanted the JSON that a failure prints" in said


def test_a_key_that_there_is_not(inline):
    assert "unknown key 'axis'; did you mean axes?" in inline.complaint('--kbx-case={"axis": {"S": [3]}}')
    assert "unknown key 'shape'; there are axes, dtype, " in inline.complaint('--kbx-case={"shape": [3]}')


def test_a_foreign_case_is_told_in_one_sentence(relu):
    candidate = Candidate("claude", "activation", "relu", None, None, RELU, "", Path("relu.py"))
    laboratory = MagicMock()
    laboratory.settings = SimpleNamespace(case='{"axes": {"N": 3}}', device="cpu", timeouts=settings.TIMEOUTS)
    evaluation = Evaluation(relu, candidate, laboratory)
    evaluation.outcomes["compiles"] = Outcome(Verdict.PASSED)
    outcome = evaluation.outcome("correct")
    assert outcome.verdict is Verdict.INFRA_ERROR
    assert outcome.reason == "--kbx-case does not fit the task: unknown axis 'N'; there are S"
    assert outcome.details == ""


def test_only_that_case_is_judged(tree):
    """Wrong beyond a thousand elements of float16: nothing but the given case shows it, and only it is run."""
    wrong = "mask=i < n) + tl.where((i > 1000) & (n == 1300), 1, 0)\n    tl"
    tree.candidate("claude", RELU.replace("mask=i < n)\n    tl", wrong))
    tree.candidate("honest", RELU)
    case = {**GOOD, "axes": {"S": [1300]}}
    result = tree.run("-m", "correct", f"--kbx-case={json.dumps(case)}")
    records = {record["method"]: record for record in result.records if record["stage"] == "correct"}
    assert records["honest"]["verdict"] == "PASSED"
    assert records["honest"]["facts"]["cases"] == 1
    assert {record["effort"] for record in result.records} == {"one case"}, "later tools must tell it from a full run"
    assert all(record["facts"]["only_case"] == Case(**case).to_json() for record in records.values())
    assert records["claude"]["verdict"] == "WRONG_VALUES"
    assert records["claude"]["facts"]["case"] == Case(**case).to_json()
    assert "case: relu(f16[1300, strides (2,)])" in result.text
    assert f"'--kbx-case={Case(**case).to_json()}'" in result.text
