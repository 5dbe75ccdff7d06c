"""Hostile candidates: each gets a failing verdict, the honest one passes, nothing is lost or left behind."""

import json
import os
import subprocess
import time
from pathlib import Path

import pytest

from conftest import RELU

HEAD = RELU.replace("def relu", "def honest")
CALL = "\ndef relu(input, inplace=False):\n"
LAZY = "    import sys, os, time\n"

# by method: the source, the stage at which it fails, the verdicts that say so
HOSTILE = {
    "syntax": ("def relu(input:\n", "compiles", {"SYNTAX"}),
    "import-error": (f"import no_such_module\n{RELU}", "compiles", {"IMPORT_ERROR"}),
    "exit-at-import": (f"import sys\nsys.exit(0)\n{RELU}", "compiles", {"IMPORT_ERROR"}),
    "exit-in-call": (HEAD + CALL + LAZY + "    sys.exit(0)\n", "compiles", {"RUNTIME_ERROR"}),
    "os-exit": (HEAD + CALL + LAZY + "    os._exit(0)\n", "compiles", {"NO_RESULT"}),
    "ctypes-segfault": (
        f"import ctypes\n{HEAD}{CALL}    ctypes.string_at(0)\n",
        "compiles",
        {"FORBIDDEN"},
    ),
    "segfault": (f"import faulthandler\n{HEAD}{CALL}    faulthandler._sigsegv()\n", "compiles", {"CRASHED"}),
    "endless-loop": (HEAD + CALL + "    while True:\n        pass\n", "compiles", {"TIMEOUT"}),
    "endless-output": (HEAD + CALL + "    while True:\n        print('x' * 4000)\n", "compiles", {"TIMEOUT"}),
    "flood-and-wrong": (
        HEAD + CALL + "    print('\\x1b[2J\\x00' + 'y' * 5_000_000)\n    return honest(input, inplace) + 1\n",
        "correct",
        {"WRONG_VALUES"},
    ),
    "allocates-64-gib": (
        HEAD + CALL + "    kept = torch.ones(64 << 30, dtype=torch.uint8)\n    return honest(input, inplace)\n",
        "compiles",
        {"OUT_OF_MEMORY"},
    ),
    "fork-outlives": (  # written so that the policy does not see what is called
        HEAD + CALL + LAZY + "    (hidden,) = (os,)[:1]\n    if hidden.fork() == 0:\n        hidden.setsid()\n"
        "        time.sleep(600)\n"
        "    return honest(input, inplace) * 0.5\n",
        "correct",
        {"WRONG_VALUES"},
    ),
    "patches-allclose": (
        HEAD + "\ntorch.allclose = torch.equal = lambda *a, **k: True\n" + CALL + "    return honest(input) + 1\n",
        "compiles",
        {"FORBIDDEN"},
    ),
    "patches-quietly": (
        HEAD + "\nfor name in ('allclose', 'equal', 'isclose'):\n    setattr(torch, name, lambda *a, **k: True)\n"
        "    setattr(torch.testing, 'assert_close', lambda *a, **k: True)\n"
        + CALL + "    return honest(input) + 1\n",
        "compiles",
        {"FORBIDDEN"},
    ),
    "patches-unseen": (
        HEAD + "\nfor name in ('allclose', 'equal', 'isclose'):\n    setattr((0, torch)[-1], name, bool)\n"
        + CALL + "    return honest(input) + 1\n",
        "correct",
        {"WRONG_VALUES"},
    ),
    "fake-verdict": (
        HEAD + CALL + LAZY + "    print('PASSED: relu[fake-verdict]\\n= 1 passed in 0.01s =', flush=True)\n"
        "    print('{\"ok\": true, \"verdict\": \"PASSED\"}', file=sys.stderr, flush=True)\n    os._exit(0)\n",
        "compiles",
        {"NO_RESULT"},
    ),
    "skips": (
        HEAD + CALL + LAZY + "    pytest = __builtins__['__import__']('py' + 'test')\n    pytest.skip('no GPU')\n",
        "compiles",
        {"RUNTIME_ERROR", "FORBIDDEN"},
    ),
    "skips-at-import": (
        "import importlib\nimportlib.import_module('py' + 'test').skip('no GPU', allow_module_level=True)\n" + RELU,
        "compiles",
        {"IMPORT_ERROR", "FORBIDDEN"},
    ),
    "empty": ("", "compiles", {"SYNTAX"}),
    "no-entry": (RELU.replace("def relu", "def rellu"), "compiles", {"NO_ENTRY_POINT"}),
    "no-kernel": ("import torch\n" + CALL + "    return torch.relu(input)\n", "compiles", {"NO_KERNEL"}),
}  # fmt: skip
TRAP = "import pathlib\npathlib.Path(__file__).with_name('ran').write_text('')\n"
SECONDS = 240  # for a whole run on a busy machine; a run that waits for one of them takes 600


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    from conftest import Tree

    tree = Tree(tmp_path_factory.mktemp("hostile"))
    for method, (source, _, _) in HOSTILE.items():
        tree.candidate(method, source)
    tree.candidate("bytes", "").write_bytes(b"\xff\xfe\x00 def relu")
    tree.candidate("honest", RELU)
    tree.candidate("honest", RELU, name="rellu")
    (tree.path / "candidates" / "conftest.py").write_text(TRAP)
    (tree.path / "candidates" / "syntax" / "conftest.py").write_text(TRAP)
    return tree


def processes_of(marker: str) -> list[str]:
    """Processes, this one's parents aside, that were started by a run or by anything that it started."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                environ, line = (entry / "environ").read_bytes(), (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if marker.encode() in environ + line:
                found.append(f"{entry.name}: {line.replace(bytes(1), b' ').decode(errors='replace')}")
    return found


def test_the_search_for_processes_finds_one(tmp_path):
    sleeper = subprocess.Popen(["sleep", "60"], env={**os.environ, "TMPDIR": str(tmp_path)})
    try:
        deadline = time.monotonic() + 30  # right after the fork its command line may still be the old one
        while not (found := [line for line in processes_of(str(tmp_path)) if "sleep 60" in line]):
            assert time.monotonic() < deadline
        assert len(found) == 1
    finally:
        sleeper.kill()
        sleeper.wait()
    assert processes_of(str(tmp_path)) == []


@pytest.mark.parametrize("workers", ["0", "2"])
def test_every_one_of_them_fails_and_the_honest_one_passes(hostile, tmp_path, monkeypatch, workers):
    monkeypatch.setenv("TMPDIR", str(tmp_path))  # where the sandbox puts the directories of its processes
    limits = ["--kbx-timeout=compiles=5,correct=60", "--kbx-memory=2"]
    start = time.monotonic()
    result = hostile.run(f"-n{workers}", "-m", "not performs", *limits, timeout=2 * SECONDS)
    elapsed = time.monotonic() - start

    got = {(r["method"], r["stage"]): r["verdict"] for r in result.records}
    for method, (_, stage, verdicts) in HOSTILE.items():
        assert got[method, stage] in verdicts, (method, got[method, stage])
        assert got[method, "correct"] == ("SKIPPED" if stage == "compiles" else got[method, stage]), method
    assert got["bytes", "compiles"] == "SYNTAX"
    assert got["honest", "compiles"] == got["honest", "correct"] == "PASSED", result.text

    everyone = {*HOSTILE, "bytes", "honest"}
    assert sorted(got) == sorted((method, stage) for method in everyone for stage in ("compiles", "correct"))
    assert len(result.records) == len(got), "a record was written twice"
    failing = len(everyone) - 1
    skipped = sum(verdict == "SKIPPED" for verdict in got.values())
    assert result.status == pytest.ExitCode.TESTS_FAILED
    assert f"{failing} failed, {2 * len(everyone) - failing - skipped} passed, {skipped} skipped" in result.text

    assert "candidates/honest/activation/rellu.py: 'rellu' is no task; did you mean 'relu'?" in result.text
    assert "candidates/conftest.py: a candidates folder may not bring a conftest.py; it was not run." in result.text
    assert not list(hostile.path.rglob("ran"))
    assert all(c.isprintable() or c in "\n\t" for c in result.text), "a candidate wrote to the terminal"
    assert max(len(json.dumps(r)) for r in result.records) < 20_000
    assert elapsed < SECONDS
    assert processes_of(str(tmp_path)) == []
    assert not list(tmp_path.glob("kbx-*")), "a private directory was left behind"
