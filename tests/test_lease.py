"""Leases among processes: exclusive means alone, shared does not, nobody starves, and death releases."""

import signal
import subprocess
import sys
import time

import pytest

from pytest_kernelbenchx.performance import lease
from pytest_kernelbenchx.performance.lease import Lease, NoLease

HOLD = """
import runpy, sys, time
from pathlib import Path
Lease = runpy.run_path(sys.argv.pop(1))["Lease"]  # by itself: the package would import torch
lease = Lease("GPU-1", Path(sys.argv[1]))
log, kind, seconds, times = sys.argv[2], sys.argv[3], *map(float, sys.argv[4:])
for _ in range(int(times)):
    with getattr(lease, kind)():
        with open(log, "a") as out:
            out.write(f"{kind} in {time.monotonic()}\\n")
        time.sleep(seconds)
        with open(log, "a") as out:
            out.write(f"{kind} out {time.monotonic()}\\n")
"""


@pytest.fixture
def process(tmp_path):
    """Starts processes that hold the lease `GPU-1` again and again, and ends them."""
    started = []

    def start(kind, seconds, times=1):
        words = [sys.executable, "-c", HOLD, lease.__file__, tmp_path, tmp_path / "log", kind, seconds, times]
        started.append(subprocess.Popen([str(word) for word in words]))
        return started[-1]

    yield start
    for child in started:
        child.kill()
        child.wait()


def entries(tmp_path):
    log = tmp_path / "log"
    return [line.split() for line in log.read_text().splitlines()] if log.exists() else []


def wait_for(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "what was waited for did not happen"
        time.sleep(0.01)


def test_exclusive_is_alone(tmp_path, process):
    children = [process("exclusive", 0.02, 10), process("shared", 0.02, 10), process("exclusive", 0.02, 10)]
    assert [child.wait(60) for child in children] == [0, 0, 0]
    inside: list[str] = []
    for kind, way, _ in entries(tmp_path):
        if way == "in":
            assert not inside, f"{kind} came in beside {inside}"
            inside.append(kind)
        else:
            inside.remove(kind)
    assert len(entries(tmp_path)) == 60


def test_shared_is_not(tmp_path, process):
    children = [process("shared", 5.0), process("shared", 5.0)]
    wait_for(lambda: sum(way == "in" for _, way, _ in entries(tmp_path)) == 2)
    assert not any(way == "out" for _, way, _ in entries(tmp_path)), "the second came in after the first had left"
    assert [child.wait(60) for child in children] == [0, 0]


def test_exclusive_gets_in_among_four_that_share(tmp_path, process):
    for _ in range(4):
        process("shared", 0.1, 10_000)
    wait_for(lambda: len(entries(tmp_path)) > 40)
    for _ in range(5):
        with Lease("GPU-1", tmp_path).exclusive() as waited:
            pass
        assert waited < 2.0  # those inside leave within 0.1 s; without a gate one of them is always inside


def test_death_releases(tmp_path, process):
    child = process("exclusive", 1000)
    wait_for(lambda: entries(tmp_path))
    child.send_signal(signal.SIGKILL)
    child.wait()
    with Lease("GPU-1", tmp_path).exclusive() as waited:
        assert waited < 5


def test_one_gpu_does_not_wait_for_another(tmp_path, process):
    process("exclusive", 1000)
    wait_for(lambda: entries(tmp_path))
    with Lease("GPU-2", tmp_path).exclusive() as waited:
        assert waited < 1


def test_names_do_not_collide_and_cannot_leave_the_directory(tmp_path):
    one, other = Lease("GPU-a/b", tmp_path), Lease("GPU-a_b", tmp_path)
    assert one.path != other.path
    assert Lease("../../x", tmp_path).path.parent == tmp_path


def test_no_lease_needs_no_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with NoLease().exclusive(), NoLease().exclusive() as waited:
        assert waited == 0
