"""One seed gives the same cases, verdicts and records, alone and in a full run, on one worker and on several."""

import pytest

from conftest import RELU, ROOT, Tree


def judged(result, task="relu"):
    found = [r for r in result.records if r["stage"] == "correct" and r["task"] == task]
    assert found
    return {(r["method"], r["facts"]["cases_sha256"], str(r["facts"]["errors"])) for r in found}


def test_the_same_cases_alone_and_among_others(tree):
    for method in ("one", "two"):
        tree.candidate(method, RELU)
    tree.candidate("one", RELU.replace("def relu", "def leaky_relu").replace("inplace", "negative_slope"), "leaky_relu")
    alone = tree.run("--kbx-method=one", "-k", "relu and not leaky")
    full = tree.run("-n", "2")
    assert judged(alone) <= judged(full)
    assert len({digest for _, digest, _ in judged(full)}) == 1, "methods are judged on the same cases"
    other = tree.run("--kbx-method=one", "-k", "relu and not leaky", "--kbx-seed=1")
    assert {digest for _, digest, _ in judged(other)} != {digest for _, digest, _ in judged(alone)}


DIES = (
    RELU.replace("def relu", "def honest")
    + """
def relu(input, inplace=False):
    import os
    if input.numel() > 100:
        os._exit(0)
    return honest(input, inplace)
"""
)
LATE = RELU.replace("mask=i < n)\n    tl", "mask=(i < n) & (i < 1500))\n    tl")  # wrong in the second block
KINDS = {  # what is judged in another way, or fails in another way
    "relu": {"right": RELU, "wrong": RELU.replace("0.0, value", "0.0, value + 1"), "late": LATE, "dies": DIES},
    "matmul_w8a8": {"expert": "quantization"},
    "fused_hardshrink_dropout": {"expert": "fusion"},
}
TIMES = ("time", "seconds", "run")


@pytest.fixture(scope="module")
def kinds(tmp_path_factory):
    tree = Tree(tmp_path_factory.mktemp("determinism"))
    for name, candidates in KINDS.items():
        for method, source in candidates.items():
            expert = ROOT / "candidates" / "expert" / source / f"{name}.py" if method == "expert" else None
            category = source if expert else "activation"
            tree.candidate(method, expert.read_text() if expert else source, name, category)
    return tree


def compared(result):
    """Records by candidate and stage, without what says when and how long."""
    found = {}
    for record in result.records:
        facts = {key: value for key, value in record["facts"].items() if key != "seconds_in"}
        kept = {key: value for key, value in record.items() if key not in TIMES}
        found[record["task"], record["method"], record["stage"]] = {**kept, "facts": facts}
    return found


def test_one_seed_gives_the_same_records_on_one_worker_and_on_four_twice(kinds):
    """Verdicts, cases, worst elements, hints: all but the times, of candidates that pass, fail, draw lots and die."""
    options = ("-m", "compiles or correct", "--kbx-seed=3")
    first, *others = [compared(kinds.run(*options, workers)) for workers in ("-n1", "-n4") * 2]
    assert len(first) == 2 * sum(map(len, KINDS.values()))
    for other in others:
        for key, record in first.items():
            assert other[key] == record
    verdicts = {key[:2]: record["verdict"] for key, record in first.items() if key[2] == "correct"}
    assert {verdict for (_, method), verdict in verdicts.items() if method in ("right", "expert")} == {"PASSED"}
    assert verdicts["relu", "wrong"] == verdicts["relu", "late"] == "WRONG_VALUES"
    assert verdicts["relu", "dies"] == "NO_RESULT"
