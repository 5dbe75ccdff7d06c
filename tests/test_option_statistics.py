"""--hypothesis-show-statistics: the cases of every candidate, by kind, and where the time went."""

import re

from conftest import RELU
from pytest_kernelbenchx.report.statistics import HEADER


def lines(result):
    """Those of the section."""
    found = result.text.splitlines()
    start = next(i for i, line in enumerate(found) if "kernelbenchx: cases" in line)
    return found[start + 1 : next(i for i in range(start + 1, len(found)) if found[i].startswith("==="))]


def test_what_was_drawn_is_shown_on_workers_too(tree):
    tree.candidate("right", RELU)
    tree.candidate("wrong", RELU.replace("0.0, value", "0.0, value + 1"))
    chosen = ("-k", "relu and not leaky and not fused", "-m", "compiles or correct")
    result = tree.run(*chosen, "--hypothesis-show-statistics", "-n", "2")
    shown = {line.split()[1]: line for line in lines(result)[1:]}
    assert lines(result)[0].split() == " ".join(HEADER).split()
    assert set(shown) == {"right", "wrong"}
    assert "f32 edge 2" in shown["right"]
    assert len(re.findall(r"\d+\.\d\d s", shown["right"])) == 3
    facts = {record["method"]: record["facts"] for record in result.records if record["stage"] == "correct"}
    assert shown["right"].split()[2] == str(facts["right"]["cases"])
    assert sum(facts["right"]["kinds"].values()) == facts["right"]["cases"]


def test_nothing_is_shown_unasked(tree):
    tree.candidate("right", RELU)
    assert "kernelbenchx: cases" not in tree.run("-k", "relu and not leaky and not fused").text
