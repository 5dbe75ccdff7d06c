"""A small soak: every kind of candidate of `benchmarks/soak.py`, and what the watch would say of a run gone wrong."""

import importlib
import subprocess
import sys

import pytest

from conftest import ROOT

COUNT, HOSTILE = 20, 0.6


@pytest.fixture
def soak(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    return importlib.import_module("soak")


def test_a_small_soak_finds_no_breach():
    command = [sys.executable, "benchmarks/soak.py", f"--count={COUNT}", f"--hostile={HOSTILE}", "--timeout=10"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "no breach" in done.stdout
    assert f"{COUNT} candidates, {2 * COUNT} records" in done.stdout


def good(soak, names):
    """A run in which all went well."""
    wanted = {name: verdict.split(" or ")[0] for group in soak.kinds() for name, (_, verdict) in group.items()}
    records = []
    for number, name in enumerate(names):
        first, second = (wanted[name], "SKIPPED") if wanted[name] != "PASSED" else ("PASSED", "PASSED")
        for stage, verdict in (("compiles", first), ("correct", second)):
            records.append({"sample": number, "stage": stage, "verdict": verdict, "seconds": 1.0})
    flat = [(float(n), 200 << 20) for n in range(600)]
    return soak.Run(600.0, {1: flat}, records)


def test_every_kind_has_its_turn(soak):
    names = soak.chosen(COUNT, HOSTILE, 0)
    ordinary, hostile = soak.kinds()
    assert set(names) == {*ordinary, *hostile}
    assert soak.chosen(1000, 0.1, 0) != soak.chosen(1000, 0.1, 1)
    assert sum(name in hostile for name in soak.chosen(1000, 0.1, 0)) == 100
    run = good(soak, names)
    assert soak.breaches(run, names) == []
    assert f"{COUNT} candidates, {2 * COUNT} records, 600 s" in soak.report(run, names)


def lost(run):
    run.records.pop(7)


def twice(run):
    run.records.append(run.records[0])


def passed(run):
    for record in run.records:
        record["verdict"] = "PASSED"


def left(run):
    run.left.append("process 7: sleep")


def grown(run):
    run.memory[1] = [(second, size + n * 100_000) for n, (second, size) in enumerate(run.memory[1])]


@pytest.mark.parametrize(
    ("harm", "said"),
    [
        (lost, "records were lost"),
        (twice, "1 records were written twice"),
        (passed, "PASSED, wanted CRASHED"),
        (left, "process 7"),
        (grown, "memory has grown by"),
    ],
)
def test_each_breach_is_told(soak, harm, said):
    names = soak.chosen(COUNT, HOSTILE, 0)
    run = good(soak, names)
    harm(run)
    assert any(said in line for line in soak.breaches(run, names))
