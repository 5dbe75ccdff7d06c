"""One seed gives the same cases and the same errors, alone and in a full run, on one worker and on two."""

from conftest import RELU


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
