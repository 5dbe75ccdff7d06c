"""Every audit of the suite bites: a task that is bad in one way is told so, a good one is not."""

from dataclasses import replace

import audits
import pytest
import torch
from audits import AUDITS, Study

from conftest import TASKS
from pytest_kernelbenchx import W8A8, fills, task
from pytest_kernelbenchx.judge.verdicts import Outcome, Verdict
from pytest_kernelbenchx.loading import load_task

GOOD = dict(
    inputs={"x": "f32[N]"},
    output="f32[N]",
    options={"factor": [2.0, 3.0]},
    sizes={"small": {"N": 1024}, "large": {"N": 1 << 20}},
    examples=[dict(x=[1.0, 2.0, 3.0])],
)
PRODUCT = dict(
    inputs={"a": "f32[M, K]", "b": "f32[K, N]"},
    output="f32[M, N]",
    flops=lambda M, K, N: {"tensor": 2 * M * K * N},
    sizes={"small": dict(M=64, K=64, N=64), "large": dict(M=512, K=512, N=512)},
    examples=[dict(M=2, K=3, N=4)],
)
NONE = {"f32": (0, 0), "factor": 0}
HALF = dict(inputs={"x": "T[N]"}, dtypes=("f32", "f16"), examples=[dict(N=5)])
EMPTY = dict(axes={"S": [[0]]}, examples=[], sizes={"s": dict(S=[4]), "l": dict(S=[8])})


def scaled(**changes):
    def scaled(x, factor=2.0):
        return x * factor

    return task(**{**GOOD, **changes})(scaled)


def product(**changes):
    def product(a, b):
        return a @ b

    return task(**{**PRODUCT, **changes})(product)


def averaged(x, factor=2.0):
    return x.mean() * factor


def quantized(**changes):
    return replace(load_task(TASKS / "quantization" / "matmul_w8a8.py"), **changes)


BAD = {
    "no docstring": ("is_documented", replace(scaled(), doc="Multiplied."), "docstring"),
    "no examples": ("is_documented", scaled(examples=[]), "no examples"),
    "no tolerance": ("right_answers_pass", product(tolerance=NONE), "WRONG_VALUES"),
    "another truth": ("truth_agrees_with_pytorch", scaled(truth=lambda x, factor=2.0: x * factor * 1.1), "0.09"),
    "limits too narrow": ("quantized_answers_pass", quantized(quantized=replace(W8A8, factor=0.1)), "honest scheme"),
    "limits too wide": (
        "quantized_answers_pass",
        quantized(quantized=replace(W8A8, least=0.0), traces=None),
        "full precision",
    ),
    "wide tolerance": ("null_answers_fail", scaled(tolerance={"f32": (3.0, 3.0)}), "as output 0 is PASSED"),
    "no limits on a tile": ("corruption_fails", quantized(quantized=replace(W8A8, factor=1000.0)), "is PASSED"),
    "any factor is right": ("null_answers_fail", scaled(properties=lambda arguments, outputs: []), "zeros"),
    "any place is right": ("corruption_fails", scaled(properties=lambda arguments, outputs: []), "one wrong place"),
    "nothing to tell": ("null_answers_fail", scaled(inputs={"x": "f32[*S]"}, output="f32[*S]", **EMPTY), "only 0"),
    "only whole blocks": ("axes_are_off_and_on_blocks", scaled(axes={"N": (16, 64)}, examples=[]), "always a multiple"),
    "no whole blocks": ("axes_are_off_and_on_blocks", scaled(axes={"N": (1, 17, 65)}), "never a multiple"),
    "one block": ("several_blocks_are_drawn", scaled(axes={"N": (1, 16, 17, 1024)}), "partial last block"),
    "no outliers": ("outliers_are_there", scaled(fill={"x": fills.integers(0, 9)}), "'x' is the same"),
    "an option at its default": ("arguments_are_exercised", scaled(options={"factor": [2.0]}), "'factor'"),
    "one size": ("sizes_fit", scaled(sizes={"s": {"N": 4}}), "1 sizes"),
    "a size too large": ("sizes_fit", scaled(sizes={"s": {"N": 4}, "l": {"N": 1 << 29}}), "2 GiB"),
    "sizes that shrink": ("sizes_fit", scaled(sizes={"s": {"N": 400}, "l": {"N": 4}}), "no more than the first"),
    "negative operations": ("sizes_fit", scaled(flops=lambda N: -N), "operations"),
    "bytes of three passes": ("bytes_are_compulsory", scaled(bytes=lambda N: 12 * N), "bytes declared"),
    "no operations": ("operations_agree", product(flops=None), "none are declared"),
    "half of the operations": ("operations_agree", product(flops=lambda M, K, N: {"tensor": M * K * N}), "counts"),
    "another type": ("outputs_match_the_declaration", scaled(**HALF), "an output is f16, declared f32[N]"),
    "another shape": ("outputs_match_the_declaration", task(**GOOD)(averaged), "has the shape"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_task_is_told(name):
    audit, bad, words = BAD[name]
    complaints = list(AUDITS[audit](Study(bad)))
    assert any(words in complaint for complaint in complaints), complaints


def test_an_optional_tensor_that_is_always_passed_is_told():
    @task(inputs={"x": "f32[N]", "bias": "f32[N] | None"}, output="f32[N]", sizes=GOOD["sizes"])
    def shifted(x, bias=None):
        return x if bias is None else x + bias

    study = Study(shifted)
    assert not list(audits.arguments_are_exercised(study))
    study.drawn = [case for case in study.drawn if case.present]
    study.examples = []
    assert any("'bias'" in complaint for complaint in audits.arguments_are_exercised(study))


def test_a_judge_that_looks_at_no_input_is_told(monkeypatch):
    study = Study(scaled())
    assert not list(audits.changed_inputs_are_seen(study))
    monkeypatch.setattr(audits, "judge", lambda *_: Outcome(Verdict.PASSED))
    assert any("'x'" in complaint for complaint in audits.changed_inputs_are_seen(study))


def test_a_judge_that_takes_nothing_but_pytorch_is_told(monkeypatch):
    """No declaration can make the judge reject a correctly rounded result, so it is the judge that is bad here."""
    study = Study(product())
    assert not list(audits.exact_answers_pass(study))

    def picky(task, case, expected, answer):
        same = torch.equal(answer.value, expected.eager[0])
        return Outcome(Verdict.PASSED if same else Verdict.WRONG_VALUES)

    monkeypatch.setattr(audits, "judge", picky)
    assert any("the exact result is WRONG_VALUES" in complaint for complaint in audits.exact_answers_pass(study))


@pytest.mark.parametrize("good", [scaled(), product(), quantized()], ids=lambda good: good.name)
def test_a_good_task_is_not_told(good):
    good = replace(good, doc="word " * 30)
    study = Study(good)
    assert [complaint for audit in AUDITS.values() for complaint in audit(study)] == []


def test_every_audit_is_proved():
    proved = {audit for audit, _, _ in BAD.values()} | {"changed_inputs_are_seen", "exact_answers_pass"}
    assert proved == set(AUDITS)


def test_null_answers_are_those_of_the_case():
    study = Study(product())
    case, expected = study.returning[0]
    names = [name for name, _ in audits.null_answers(study, case, expected, 0)]
    assert names[:2] == ["zeros", "ones"]
    assert {"the mean everywhere", "the row mean", "an added constant", "the answer to another seed"} <= set(names)
    other = dict(audits.null_answers(study, case, expected, 0))["the answer to another seed"]
    assert not torch.equal(other, expected.eager[0])
