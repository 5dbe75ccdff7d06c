"""The results file: its fields, whole lines whatever happens; the table and the lines at the end."""

import json
import math
import multiprocessing
import signal
import time
from collections import Counter
from pathlib import Path

import pytest
from test_hostile import processes_of

from conftest import RELU
from pytest_kernelbenchx.report.records import append, finite
from pytest_kernelbenchx.report.terminal import HEADER, percent, reasons, rows, share, table

FIELDS = """
schema time run task category method round sample stage size verdict kind reason details facts seconds sha256
task_sha256 source layers device device_name torch triton numpy hypothesis pytest python suite effort seed
"""
KILL = """
import os, signal


def pytest_runtest_call(item):
    if "test_correct[last]" in item.nodeid:
        os.kill(os.getpid(), signal.SIGKILL)
"""


def append_many(path, who):
    for number in range(100):
        append(path, {"who": who, "number": number, "text": "x" * 9000})


def test_runs_that_append_at_once(tmp_path):
    path = tmp_path / "new" / "records.jsonl"
    fork = multiprocessing.get_context("fork")
    writers = [fork.Process(target=append_many, args=(path, who)) for who in range(4)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert sorted((line["who"], line["number"]) for line in lines) == [(w, n) for w in range(4) for n in range(100)]


def test_a_torn_line_is_ended(tmp_path):
    path = tmp_path / "records.jsonl"
    path.write_text('{"a": 1}\n{"torn": ')
    append(path, {"b": 2})
    append(path, {"c": 3})
    assert path.read_text() == '{"a": 1}\n{"torn": \n{"b": 2}\n{"c": 3}\n'


def test_numbers_that_json_does_not_have(tmp_path):
    path = tmp_path / "records.jsonl"
    append(path, {"facts": {"errors": [math.inf, -math.inf, math.nan, 1.5], "line": "\udcff\n"}})
    (line,) = path.read_text().splitlines()
    assert json.loads(line)["facts"] == {"errors": ["inf", "-inf", "nan", 1.5], "line": "\udcff\n"}
    assert finite((1, {"a": math.inf})) == [1, {"a": "inf"}]


def test_a_disk_that_is_full_is_told():
    with pytest.raises(OSError, match="No space left"):
        append(Path("/dev/full"), {"a": 1})


def test_killed_in_the_middle(tree, tmp_path_factory, monkeypatch):
    """What was finished is there, each in a line of its own; what the run had started ends with it."""
    scratch = tmp_path_factory.mktemp("scratch")
    monkeypatch.setenv("TMPDIR", str(scratch))
    (tree.path / "kill.py").write_text(KILL)
    tree.candidate("first", RELU.replace("0.0, value", "1.0, value"))
    tree.candidate("last", RELU)
    store, named = tree.path / ".kbx" / "records.jsonl", tree.path / "named.jsonl"
    named.write_text("torn")
    result = tree.run("-p", "kill", "--kbx-results=named.jsonl", "--kbx-seed=3")
    assert result.status == -signal.SIGKILL

    stages = [(record["method"], record["stage"], record["size"]) for record in result.records]
    sizes = [("first", "performs", size) for size in ("4k", "1m", "128m")]
    assert stages == [("first", "compiles", None), ("first", "correct", None), *sizes, ("last", "compiles", None)]
    assert named.read_bytes() == b"torn\n" + store.read_bytes()

    for record in result.records:
        assert set(FIELDS.split()) - set(record) == set()
        assert record["schema"] == "kernelbenchx/record/1"
        assert (record["task"], record["category"]) == ("relu", "activation")
        assert (record["round"], record["sample"]) == (None, None)
        assert (record["device"], record["effort"], record["seed"]) == ("cpu", "quick", 3)
        assert record["torch"].startswith("2.")
        assert record["triton"].startswith("3.")
        assert len(record["sha256"]) == len(record["task_sha256"]) == 64
        assert record["source"] == f"candidates/{record['method']}/activation/relu.py"
        assert record["time"].endswith("Z")
        assert record["seconds"] >= 0
    wrong = result.records[1]
    assert (wrong["verdict"], wrong["kind"]) == ("WRONG_VALUES", "failure")
    assert set(wrong["facts"]["errors"]) == {"cosine", "relative_l1", "relative_rmse"}
    assert json.loads(wrong["facts"]["case"])["example"] == 0
    assert {record["verdict"] for record in result.records[2:5]} == {"SKIPPED"}
    assert len({record["run"] for record in result.records}) == 1

    deadline = time.monotonic() + 60
    while processes_of(str(scratch)) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert processes_of(str(scratch)) == []


def record(method, task, stage, verdict, category="math", **more):
    return {
        "method": method,
        "task": task,
        "stage": stage,
        "verdict": verdict,
        "category": category,
        "round": None,
        "sample": None,
        **more,
    }


def judged(method, task, compiles, correct, category="math", **more):
    return [
        record(method, task, "compiles", compiles, category, **more),
        record(method, task, "correct", correct, category, **more),
        record(method, task, "performs", "SKIPPED", category, size="4k", **more),
    ]


def test_rows_per_method_and_category():
    records = [
        *judged("claude", "exp", "PASSED", "PASSED"),
        *judged("claude", "log", "PASSED", "WRONG_VALUES"),
        *judged("claude", "sin", "SYNTAX", "SKIPPED"),
        *judged("claude", "relu", "NOT_JUDGED", "SKIPPED", "activation"),
        *judged("gpt", "exp", "PASSED", "PASSED"),
    ]
    assert rows(records, Counter(math=10, activation=5)) == [
        ("claude", "activation", "1", "-", "-", "-", "1", "0/5 0.0%", "0/5 0.0%"),
        ("claude", "math", "3", "2/3 66.7%", "1/3 33.3%", "50.0%", "0", "2/10 20.0%", "1/10 10.0%"),
        ("claude", "all", "4", "2/3 66.7%", "1/3 33.3%", "50.0%", "1", "2/15 13.3%", "1/15 6.7%"),
        ("gpt", "math", "1", "1/1 100.0%", "1/1 100.0%", "100.0%", "0", "1/10 10.0%", "1/10 10.0%"),
    ]


def test_extra_tasks_are_attempted_and_no_part_of_all():
    records = [*judged("claude", "exp", "PASSED", "PASSED"), *judged("claude", "exp_fp16", "PASSED", "PASSED")]
    assert rows(records, Counter(math=4), {"exp_fp16"}) == [
        ("claude", "math", "2", "2/2 100.0%", "2/2 100.0%", "100.0%", "0", "1/4 25.0%", "1/4 25.0%")
    ]


def test_samples_are_attempts_of_one_task_and_rounds_stand_apart():
    records = [
        *judged("geak", "exp", "PASSED", "PASSED", round=1, sample=0),
        *judged("geak", "exp", "PASSED", "WRONG_VALUES", round=1, sample=1),
        *judged("geak", "exp", "PASSED", "PASSED", round=2, sample=0),
    ]
    assert rows(records, Counter(math=4)) == [
        ("geak r1", "math", "2", "2/2 100.0%", "1/2 50.0%", "50.0%", "0", "1/4 25.0%", "1/4 25.0%"),
        ("geak r2", "math", "1", "1/1 100.0%", "1/1 100.0%", "100.0%", "0", "1/4 25.0%", "1/4 25.0%"),
    ]


def test_rounds_are_in_the_order_of_their_numbers():
    records = [line for n in (10, 2) for line in judged("geak", "exp", "PASSED", "PASSED", round=n)]
    assert [row[0] for row in rows(records, Counter(math=1))] == ["geak r2", "geak r10"]


def test_a_stage_that_did_not_run_is_no_zero():
    records = [record("claude", "exp", "compiles", "PASSED")]
    assert rows(records, Counter(math=2)) == [("claude", "math", "1", "1/1 100.0%", "-", "-", "0", "1/2 50.0%", "-")]


def test_a_method_with_speed_alone_has_no_row():
    assert rows([record("eager", "exp", "performs", "SKIPPED")], Counter(math=2)) == []


def test_table_is_aligned():
    header, first, second = table([("claude", "math", "3", *["1/3 33.3%"] * 6), ("g", "all", "10", *["-"] * 6)])
    assert header.split() == " ".join(HEADER).split()
    assert first.startswith("claude  math")
    assert second.startswith("g       all ")
    assert len(header) == len(first) == len(second)


def test_percentages():
    assert percent(1, 3) == "33.3%"
    assert percent(0, 0) == "-"
    assert share(0, 0) == "-"


def test_verdicts_are_counted():
    records = [*judged("a", "exp", "PASSED", "WRONG_VALUES"), *judged("a", "log", "PASSED", "WRONG_VALUES")]
    assert reasons([*records, record("a", "sin", "compiles", "SYNTAX")]) == ["verdicts: WRONG_VALUES 2, SYNTAX 1"]
    strided = {**record("a", "cos", "correct", "WRONG_VALUES"), "facts": {"contiguous_right": 7}}
    assert reasons([*records, strided])[1:] == ["of these, 1 gave right results wherever all inputs were contiguous"]
    assert reasons(judged("a", "exp", "PASSED", "PASSED")) == []
