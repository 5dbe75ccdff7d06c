"""Under -n every worker of this machine gets one of the GPUs that the caller may use. No GPU is needed to see that."""

import json
import os
import re
import subprocess
from types import SimpleNamespace

import execnet
import pytest

from pytest_kernelbenchx import scheduling
from pytest_kernelbenchx.laboratory import KEY
from pytest_kernelbenchx.scheduling import VISIBLE, gpus, pytest_xdist_setupnodes

SMI = "#!/bin/sh\necho 'GPU-0a'\necho 'GPU-0b'\n"
CONFTEST = """
import json, os, pathlib

from pytest_kernelbenchx import settings

settings.device = lambda given: "cuda"


def pytest_configure(config):
    if hasattr(config, "workerinput"):
        note = [config.workerinput["workerid"], os.environ.get("CUDA_VISIBLE_DEVICES")]
        with (pathlib.Path(__file__).parent / "notes.jsonl").open("a") as file:
            file.write(json.dumps(note) + "\\n")
"""
DEADLY = """
import os, signal
import pytest


@pytest.mark.parametrize("number", range(6))
def test_note(number):
    if number == 1:
        os.kill(os.getpid(), signal.SIGKILL)
"""


def dealt(config_device="cuda", tasks=("relu",), specs=("popen",) * 4):
    """What the hook leaves in the specifications of the workers."""
    lab = SimpleNamespace(settings=SimpleNamespace(device=config_device), task_paths=tasks)
    made = [execnet.XSpec(spec) for spec in specs]
    pytest_xdist_setupnodes(SimpleNamespace(stash={KEY: lab}), made)
    return [spec.env.get(VISIBLE) for spec in made]


@pytest.mark.parametrize(
    ("listed", "names"),
    [
        ("0", ["0"]),
        ("5,GPU-ab, 2", ["5", "GPU-ab", "2"]),
        ("", []),
        ("-1", []),
        ("3,-1,4", ["3"]),
        ("1,,2", ["1"]),
    ],
)
def test_the_callers_own_variable_is_indexed(listed, names):
    assert gpus({VISIBLE: listed}) == names


def test_nvidia_smi_is_asked_where_the_variable_is_not_set(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert gpus({}) == []
    tool = tmp_path / "nvidia-smi"
    tool.write_text(SMI)
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.defpath}")
    assert gpus({}) == ["GPU-0a", "GPU-0b"]
    tool.write_text("#!/bin/sh\necho 'No devices were found'\nexit 6\n")
    assert gpus({}) == []


def test_a_tool_that_hangs_gives_nothing(monkeypatch):
    def hang(command, *, timeout, **_):
        raise subprocess.TimeoutExpired(command, timeout)

    monkeypatch.setattr(scheduling.subprocess, "run", hang)
    assert gpus({}) == []


def test_round_robin_over_local_workers(monkeypatch):
    monkeypatch.setenv(VISIBLE, "5,7,GPU-ab")
    assert dealt() == ["5", "7", "GPU-ab", "5"]
    remote = ("ssh=host//python=python", "popen//via=proxy", "popen", "popen")
    assert dealt(specs=remote) == [None, None, "5", "7"]


def test_a_specification_that_names_its_gpu_keeps_it(monkeypatch):
    monkeypatch.setenv(VISIBLE, "5,7")
    assert dealt(specs=("popen//env:CUDA_VISIBLE_DEVICES=3", "popen", "popen")) == ["3", "7", "5"]


def test_nothing_is_dealt_where_no_kernel_runs_on_a_gpu(monkeypatch):
    monkeypatch.setenv(VISIBLE, "5,7")
    assert dealt(config_device="cpu") == [None] * 4
    assert dealt(tasks=()) == [None] * 4
    monkeypatch.setenv(VISIBLE, "")
    assert dealt() == [None] * 4


def test_workers_start_with_their_gpu_and_a_replacement_inherits_it(tree, monkeypatch):
    (tree.path / "conftest.py").write_text(CONFTEST)
    (tree.path / "test_deadly.py").write_text(DEADLY)
    monkeypatch.setenv(VISIBLE, "5,GPU-ab")
    result = tree.run("-n2", "test_deadly.py", "-p", "no:benchmark")
    assert "1 failed, 5 passed" in result.text
    notes = dict(json.loads(line) for line in (tree.path / "notes.jsonl").read_text().splitlines())
    assert len(notes) == 3, "two workers and one in place of the one that was killed"
    assert [notes[f"gw{n}"] for n in range(2)] == ["5", "GPU-ab"]
    killed = re.search(r"worker '(gw\d)' crashed while running", result.text)[1]
    assert notes["gw2"] == notes[killed]
