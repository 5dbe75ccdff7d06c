"""What a candidate's process may read, write, connect to and signal, where the kernel has Landlock."""

import os
import socket
import sys
from pathlib import Path

import pytest

from conftest import ROOT
from pytest_kernelbenchx.report.terminal import absent
from pytest_kernelbenchx.sandbox import landlock
from pytest_kernelbenchx.sandbox.host import LAYERS, Sandbox

known = landlock.version()
needs = {1: "files", 4: "TCP", 6: "signals"}
TRY = """
import os, socket, subprocess
def f(action, *arguments):
    try:
        eval(action)(*arguments)
    except OSError as error:
        return type(error).__name__
    return "done"
"""
WRITE = "lambda path: open(path, 'w').close()"
READ = "lambda path: open(path, 'rb').read()"
SIGNAL = "lambda: os.kill(os.getppid(), 10)"
CONNECT = "lambda port: socket.create_connection(('127.0.0.1', port), 10).close()"
COMPILE = "lambda code: subprocess.run(['cc', '-x', 'c', '-', '-o', 'a.out'], input=code, text=True, check=True)"


@pytest.fixture(scope="module")
def sandbox():
    with Sandbox() as box:
        yield box


@pytest.fixture
def attempt(sandbox):
    """What comes of an action in a candidate's process: "done", or the name of the error."""
    child = sandbox.child("kernels-shared")
    assert child.load("kernel.py", TRY, ["f"], 60.0).ok
    yield lambda *arguments: child.call(list(arguments), {}, seed=0, timeout=60.0).value
    child.kill()


def version(wanted):
    return pytest.mark.skipif(known < wanted, reason=f"this kernel's Landlock (version {known}) has no {needs[wanted]}")


@version(1)
@pytest.mark.parametrize("path", ["tasks/activation/relu.py", "README.md", "/proc/{}/environ"])
def test_what_is_not_its_own_it_cannot_read(attempt, path):
    assert attempt(READ, str(ROOT / path.format(os.getpid()))) == "PermissionError"


@version(1)
@pytest.mark.parametrize("place", ["site-packages", "temporary", "package", "shared memory"])
def test_what_is_not_its_own_it_cannot_write(attempt, place, tmp_path):
    package = Path(landlock.__file__).parents[1]
    places = {"site-packages": Path(pytest.__file__).parents[1], "package": package, "shared memory": Path("/dev/shm")}
    path = places.get(place, tmp_path) / "kernelbenchx-was-here"
    assert attempt(WRITE, str(path)) == "PermissionError"
    assert not path.exists()


@version(1)
def test_another_candidates_files_are_not_its_own(sandbox, attempt):
    other = sandbox.child()
    other.load("kernel.py", TRY, ["f"], 60.0)
    assert other.call([WRITE, "secret"], {}, seed=0, timeout=60.0).value == "done"
    [secret] = sandbox._server.root.glob("*/work/secret")
    assert attempt(READ, str(secret)) == attempt(WRITE, str(secret)) == "PermissionError"
    other.kill()


def test_its_own_files_compilers_and_libraries_it_can_use(attempt):
    assert attempt(WRITE, "mine") == "done"
    assert attempt(READ, "/dev/null") == "done"
    assert attempt(READ, sys.executable) == "done"
    assert attempt("lambda: __import__('torch.distributed')") == "done"
    assert attempt("lambda: open(os.environ['TRITON_CACHE_DIR'] + '/kernel', 'w').close()") == "done"
    assert attempt(COMPILE, "int main(void) { return 0; }") == "done"


@version(4)
def test_it_cannot_connect(attempt):
    with socket.create_server(("127.0.0.1", 0)) as server:
        assert attempt(CONNECT, server.getsockname()[1]) == "PermissionError"


@version(6)
def test_it_cannot_signal_others(attempt):
    assert attempt(SIGNAL) == "PermissionError"


def test_the_layers_that_are_active_are_named(sandbox):
    sandbox.start()
    expected = landlock.LAYERS[: (known >= 1) + (known >= 4) + (known >= 6)]
    assert [layer for layer in sandbox.facts["layers"] if layer.startswith("landlock")] == list(expected)
    assert set(sandbox.facts["layers"]) <= set(LAYERS)


def test_a_layer_that_is_missing_is_told_once():
    everything = {"layers": list(LAYERS)}
    assert absent([everything, {"layers": []}]) == []
    [line] = absent([everything, {"layers": [layer for layer in LAYERS if layer != "landlock_tcp"]}] * 2)
    assert line.startswith("warning: layers of the sandbox that were not active: landlock_tcp (")
