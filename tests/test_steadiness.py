"""Calls that are made again: the same result, new results for new values, results that stay, memory of their own."""

import pytest
import torch

from conftest import RELU
from pytest_kernelbenchx.judge.contract import judge_aliases, judge_plain, shared
from pytest_kernelbenchx.judge.verdicts import Verdict

HEAD = RELU.replace("def relu", "def honest")
KEPT = """
BUFFERS = {}
def relu(input, inplace=False):
    out = honest(input, inplace)
    if inplace:
        return out
    key = (input.shape, input.dtype)
    if key not in BUFFERS:
        BUFFERS[key] = torch.empty_like(out)
    return BUFFERS[key].copy_(out)
"""
ADDRESS = """
SEEN = {}
def relu(input, inplace=False):
    key = (id(input), input._version, input.numel())
    if inplace or not input.numel():
        return honest(input, inplace)
    if key not in SEEN:
        SEEN[key] = (input, honest(input))
    return SEEN[key][1].clone()
"""
SPOILED = """
COUNT = {}
def relu(input, inplace=False):
    out = honest(input, inplace)
    key = (*input.flatten().tolist()[:64], input.stride(), input.storage_offset(), input.dtype)
    COUNT[key] = COUNT.get(key, 0) + 1
    return out + 1 if COUNT[key] > 2 and len(set(key)) > 60 and not inplace else out
"""
ALIAS = "\ndef relu(input, inplace=False):\n    out = honest(input, inplace)\n"
ALIAS += "    return input if torch.equal(out, input) else out\n"
CANDIDATES = {
    "honest": (RELU, "PASSED", ""),
    "one-buffer": (HEAD + KEPT, "RESULT_REUSED", "has changed after"),
    "by-address": (HEAD + ADDRESS, "RESULT_REUSED", "other values in the same tensors are not looked at"),
    "spoiled": (HEAD + SPOILED, "NONDETERMINISTIC", "the same call was right at first, and is wrong the "),
    "alias": (HEAD + ALIAS, "WRONG_OUTPUT", "lies in the memory of an input"),
}


def test_each_gets_its_verdict_with_the_case(tree):
    for method, (source, _, _) in CANDIDATES.items():
        tree.candidate(method, source)
    result = tree.run("-k", "relu and not leaky", "-m", "correct", "--kbx-timeout=120")
    records = {record["method"]: record for record in result.records if record["stage"] == "correct"}
    for method, (_, verdict, reason) in CANDIDATES.items():
        assert records[method]["verdict"] == verdict, records[method]
        assert reason in records[method]["reason"]
        assert verdict == "PASSED" or "case" in records[method]["facts"]


def test_memory_that_is_shared():
    x, y = torch.ones(4), torch.ones(3)
    assert shared([x[1:], y.clone(), 3, y], [x, y]) == {0, 2}
    assert shared([torch.ones(2)], [torch.ones(0)]) == frozenset()
    assert judge_aliases({0: 1}, frozenset({0})) is None
    assert judge_aliases({}, frozenset()) is None
    assert judge_aliases({0: 0, 2: 1}, frozenset({0})).reason.startswith("output 2 lies in the memory of an input")


@pytest.mark.parametrize(("kind", "verdict"), [("tensor subclass m.Lazy", Verdict.LAZY_OUTPUT), ("builtins.str", None)])
def test_a_tensor_of_another_class(kind, verdict):
    outcome = judge_plain(kind, "output")
    assert (outcome and outcome.verdict) is verdict
    assert outcome is None or outcome.reason.startswith("output is a m.Lazy, a subclass of torch.Tensor")
