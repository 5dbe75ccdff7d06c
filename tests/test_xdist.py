"""Under -n the same items run in the same order with the same verdicts, a candidate's stages together on one worker."""

import json
import os
from collections import defaultdict
from pathlib import Path

import pytest

import pytest_kernelbenchx
from conftest import RELU, Tree
from pytest_kernelbenchx.scheduling import scope_of

WATCH = """
import json, os, pathlib, signal
import pytest

HERE = pathlib.Path(__file__).parent


def note(kind, *values):
    with (HERE / "watched.jsonl").open("a") as file:
        file.write(json.dumps([kind, *values]) + "\\n")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_node_collection_finished(node, ids):
    note("items", list(ids))


def pytest_collection_finish(session):
    if not hasattr(session.config, "workerinput"):
        note("items", [item.nodeid for item in session.items])


def pytest_runtest_call(item):
    if hasattr(item.config, "workerinput"):
        note("ran", item.nodeid, item.config.workerinput["workerid"])
        if "test_correct[victim" in item.nodeid:
            os.kill(os.getpid(), signal.SIGKILL)
"""
WRONG = RELU.replace("0.0, value", "0.0, value + 1")
RAISES = RELU.replace("    flat =", "    raise ValueError('\\ud800 \\x00')\n    flat =")


def test_scope():
    file = "tasks/activation/relu.py::"
    for method in ("claude", "deepseek-r1", "geak:r1:s0", "a-b-c:r12"):
        scope = f"tasks/activation/relu.py[{method}]"
        for test in (f"test_compiles[{method}]", f"test_correct[{method}]", f"test_performs[{method}-4k]"):
            assert scope_of(file + test) == scope
    assert scope_of("test_mine.py::test_compiles") == "test_mine.py::test_compiles"
    assert scope_of("test_mine.py::test_mine[a-b]") == "test_mine.py::test_mine[a-b]"
    assert scope_of(f"{file}test_correct[gpt]") != scope_of("tasks/activation/tanh.py::test_correct[gpt]")


@pytest.mark.parametrize(("set_by_user", "wanted"), [(None, max(1, len(os.sched_getaffinity(0)) // 2)), ("2", 2)])
def test_workers_share_the_cores(pytester, monkeypatch, set_by_user, wanted):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    if set_by_user:
        monkeypatch.setenv("OMP_NUM_THREADS", set_by_user)
    pytester.makepyfile(f"import torch\ndef test_threads(): assert torch.get_num_threads() == {wanted}")
    done = pytester.runpytest_subprocess("-p", "pytest_kernelbenchx.plugin", "-n", "2")
    done.assert_outcomes(passed=1)


def test_groups_are_not_made_by_marks():
    """pytest 9.2 silently drops what xdist 3.8's loadgroup needs."""
    sources = Path(pytest_kernelbenchx.__file__).parent.rglob("*.py")
    assert not [path.name for path in sources if "xdist_group" in path.read_text()]


def watched(tree, kind):
    lines = (tree.path / "watched.jsonl").read_text().splitlines()
    return [values for name, *values in map(json.loads, lines) if name == kind]


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    tree = Tree(tmp_path_factory.mktemp("xdist"))
    (tree.path / "watch.py").write_text(WATCH)
    for method, source in {"deepseek-r1": WRONG, "raises": RAISES, "victim-a": RELU, "victim-b": RELU}.items():
        tree.candidate(method, source)
    path = tree.path / "candidates" / "geak" / "round_1" / "sample_0" / "relu.py"
    path.parent.mkdir(parents=True)
    path.write_text(RELU)
    return tree


@pytest.fixture(scope="module")
def alone(tree):
    return tree.run("-n0", "-p", "watch"), watched(tree, "items")


@pytest.fixture(scope="module")
def spread(tree, alone):
    """Two workers; whoever judges the second stage of a victim is killed."""
    (tree.path / "watched.jsonl").unlink()
    return tree.run("-n2", "-p", "watch"), watched(tree, "items"), watched(tree, "ran")


def verdicts(result):
    keys = ("method", "round", "sample", "task", "stage", "size")
    return {tuple(record[key] for key in keys): record["verdict"] for record in result.records}


def test_same_items_in_the_same_order(alone, spread):
    ((items,),) = alone[1]
    assert len(items) == 5 * 5
    assert spread[1][:2] == [[items], [items]]


def test_same_verdicts_and_every_record_once(alone, spread):
    result, other = alone[0], spread[0]
    assert set(verdicts(result).values()) == {"PASSED", "WRONG_VALUES", "RUNTIME_ERROR", "SKIPPED"}
    assert len(result.records) == len(verdicts(result)) == 5 * 5
    assert len(other.records) == len(verdicts(other))
    finished = {key: found for key, found in verdicts(result).items() if key[4] != "correct" or "victim" not in key[0]}
    assert verdicts(other) == finished


def test_killed_workers_are_told_and_replaced(spread):
    text = spread[0].text
    for victim in ("victim-a", "victim-b"):
        assert text.count(f"FAILED activation/relu.py::test_correct[{victim}]") == 1
        assert f"crashed while running 'activation/relu.py::test_correct[{victim}]'" in text
    assert spread[0].status == pytest.ExitCode.TESTS_FAILED


def test_stages_of_a_candidate_stay_together_in_order(spread):
    ran, workers = defaultdict(list), defaultdict(set)
    for nodeid, worker in spread[2]:
        name, _, candidate = nodeid.partition("::")[2].rstrip("]").partition("[")
        candidate = candidate.rpartition("-")[0] if name == "test_performs" else candidate
        ran[candidate].append(name)
        workers[candidate].add(worker)
    unhurt, victims = ["deepseek-r1", "geak:r1:s0", "raises"], ["victim-a", "victim-b"]
    stages = ["test_compiles", "test_correct", *["test_performs"] * 3]
    assert dict(ran) == dict.fromkeys(unhurt + victims, stages)
    assert [len(workers[candidate]) for candidate in unhurt] == [1, 1, 1]
    assert [len(workers[candidate]) for candidate in victims] == [2, 2]
