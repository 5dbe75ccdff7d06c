"""--kbx-delegation: a part of the work that is PyTorch's is reported, or forbidden."""

import pytest

from conftest import RELU

PART = (
    RELU.replace("def relu", "def honest")
    + """

def relu(input, inplace=False):
    out = honest(input * 1.0)
    return input.copy_(out) if inplace else out
"""
)
CHOSEN = ("-k", "relu and not leaky and not fused", "-m", "correct")


@pytest.fixture
def two(tree):
    tree.candidate("part", PART)
    tree.candidate("whole", RELU)
    return tree


def test_report_is_the_default(two):
    for option in ((), ("--kbx-delegation=report",)):
        result = two.run(*CHOSEN, *option)
        assert result.verdicts() == {"part": "PASSED", "whole": "PASSED"}
        (line,) = [line for line in result.text.splitlines() if line.startswith("left to PyTorch in part")]
        assert line.endswith("relu[part] 50% (aten::mul)"), line


def test_forbid(two):
    result = two.run(*CHOSEN, "--kbx-delegation=forbid")
    assert result.verdicts() == {"part": "DELEGATED", "whole": "PASSED"}
    assert result.status == 1
    told = next(record for record in result.records if record["method"] == "part" and record["stage"] == "correct")
    assert told["reason"].startswith("50.0% of the work is in aten::mul (estimate), which --kbx-delegation=forbid ")
    assert told["facts"]["delegated_share"] == 0.5
    assert "left to PyTorch in part" not in result.text


def test_another_word_is_refused(inline):
    result = inline.run("--kbx-delegation=never")
    assert result.status == pytest.ExitCode.USAGE_ERROR
    assert "argument --kbx-delegation: invalid choice: 'never'" in result.text
