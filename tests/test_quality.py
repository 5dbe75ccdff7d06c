"""radon's figures of a candidate's own source, against values worked out by hand."""

import pytest

from pytest_kernelbenchx.quality import quality

BRANCHES = """
def f(x):
    if x > 0 and x < 10:
        return 1
    for i in range(x):
        if i:
            x += 1
    return x


def g():
    return 2
"""


def test_complexity_counts_branches_by_hand():
    figures = quality(BRANCHES)
    assert figures["functions"] == 2
    assert figures["most_complex"] == ["f", 5]  # 1, two ifs, a for, an and
    assert figures["complexity"] == 6
    assert figures["lines"] == 9


def test_maintainability_falls_with_length():
    short, long = quality("def f(x):\n    return x\n"), quality(BRANCHES * 20)
    assert 0 < long["maintainability"] < short["maintainability"] <= 100


@pytest.mark.parametrize("source", ["def f(:\n", "\x00", "("])
def test_what_does_not_parse_has_no_figures(source):
    assert quality(source) == {}


def test_a_file_without_functions():
    assert quality("x = 1\n")["most_complex"] is None
