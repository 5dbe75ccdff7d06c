"""Whole runs with a candidate that is past the policy: it reaches for the run's own files, or for all of a GPU."""

import json

import pytest
import torch
from red_team import KERNEL, Court

from conftest import RELU
from pytest_kernelbenchx.judge.verdicts import Verdict
from pytest_kernelbenchx.sandbox import landlock

NO_POLICY = """
from pytest_kernelbenchx.judge import policy
policy.examine = lambda *_: policy.Examination((), ())
"""
REACHES = """
def relu(input, inplace=False):
    for path in {paths!r}:
        for change in (
            lambda: open(path, "ab").write(b'{{"verdict": "PASSED"}}'),
            lambda: open(path, "wb").close(),
            lambda: os.unlink(path),
            lambda: os.chmod(path, 0),
        ):
            try:
                change()
            except OSError:
                pass
    return honest(input, inplace) + 1
"""


@pytest.mark.skipif(landlock.version() < 1, reason="this kernel has no Landlock")
def test_a_run_keeps_its_files_records_and_later_candidates(tree):
    (tree.path / "conftest.py").write_text(NO_POLICY)
    later = tree.candidate("later", RELU)
    store, results = tree.path / ".kbx" / "records.jsonl", tree.path / "results.jsonl"
    results.write_text("")
    paths = [str(path) for path in (later, tree.path / "conftest.py", tree.path / "pytest.ini", store, results)]
    tree.candidate("first", "import os\n" + RELU.replace("def relu", "def honest") + REACHES.format(paths=paths))
    result = tree.run("-m", "not performs", f"--kbx-results={results}")
    assert result.verdicts() == {"first": "WRONG_VALUES", "later": "PASSED"}, result.text
    assert [json.loads(line) for line in results.read_text().splitlines()] == result.records
    assert len(result.records) == 4
    assert later.read_text() == RELU
    assert (tree.path / "conftest.py").read_text() == NO_POLICY


def test_where_kernels_are_compiled_no_interpreter_is_to_blame(monkeypatch):
    """NOT_JUDGED says nothing about a candidate, so it must not be the candidate's to give."""
    limit = "from pytest_kernelbenchx.sandbox.limits import InterpreterLimit\n" + KERNEL
    limit += "def double(x):\n    raise InterpreterLimit('no')\n"
    court = Court(monkeypatch)
    assert court.outcome(limit).verdict is Verdict.NOT_JUDGED
    court.sandbox.device = "cuda"
    try:
        outcome = court.outcome(limit)
        assert outcome.verdict is Verdict.TAMPERED
        assert "an error blames the interpreter" in outcome.reason
    finally:
        court.sandbox.close()


@pytest.mark.gpu
def test_a_candidate_that_takes_all_of_a_gpu_leaves_it_to_the_next(monkeypatch):
    if not torch.cuda.is_available():
        pytest.skip("needs a GPU")
    court = Court(monkeypatch, "cuda")
    greedy = "kept = []\ndef double(x):\n    while True: kept.append(torch.empty(1 << 28, device=x.device))\n"
    orphan = greedy.replace("while True:", "if os.fork(): return times(x, 2)\n    while True:")
    try:
        assert court.verdict(KERNEL + greedy) == "OUT_OF_MEMORY"
        assert court.verdict(KERNEL + orphan) == "PASSED"
    finally:
        court.sandbox.close()
