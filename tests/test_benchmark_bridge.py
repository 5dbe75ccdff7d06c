"""Device times in pytest-benchmark: its JSON, its options, its table; from one process and from many."""

import json
import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pretend
import pytest

from conftest import Inline
from pytest_kernelbenchx.performance.device_clock import DeviceClock

TASK = '''
"""A task with two sizes."""

from pytest_kernelbenchx import task


@task(inputs={"input": "f32[N]"}, output="f32[N]", sizes={"4k": dict(N=4096), "1m": dict(N=2**20)})
def twice(input):
    return 2 * input
'''
OWN = """
import os, signal
import pytest


def test_sum(benchmark):
    benchmark(sum, range(10))


@pytest.mark.benchmark(group="mine", min_rounds=3)
def test_played(device_times):
    device_times([0.25, 0.5, 0.125], note="by hand")


def test_candidate(candidate, benchmark):
    benchmark(len, candidate.candidate.method)


def test_plain():
    pass


@pytest.mark.skipif("DEADLY" not in os.environ, reason="nobody is to die")
def test_zzz_deadly():
    os.kill(os.getpid(), signal.SIGKILL)
"""
FAST = ("--benchmark-max-time=0.001", "--benchmark-min-rounds=2", "--benchmark-storage=store")
METHODS = ("deepseek-r1", "slow", "wrong")
FILE = "tasks/activation/twice.py"
TIMED = [f"{FILE}::test_performs[{who}]" for who in ("deepseek-r1-1m", "deepseek-r1-4k", "eager-1m", "eager-4k")]
TIMED += [f"{FILE}::test_performs[{who}]" for who in ("slow-1m", "slow-4k", "wrong-4k")]
OWN_NAMES = [*(f"test_own.py::test_candidate[twice:{method}]" for method in METHODS)]
OWN_NAMES += ["test_own.py::test_played", "test_own.py::test_sum"]
OF_XDIST = re.compile("xdist plugin is active|automatically disabled", re.IGNORECASE)


def run(tree, *arguments):
    paths = [] if any(argument.endswith(".py") for argument in arguments) else ["."]
    return tree.run("--kbx-tasks=tasks", *FAST, *arguments, *paths)


def benchmarks(tree, name):
    return json.loads((tree.path / name).read_text())["benchmarks"]


def names(tree, name):
    return [result["fullname"] for result in benchmarks(tree, name)]


def outcomes(result):
    """Counts of the last line: {"passed": 3, ...}."""
    line = [line for line in result.text.splitlines() if re.search(r"\d+ \w+.* in [\d.]+s", line)][-1]
    return {word: int(number) for number, word in re.findall(r"(\d+) (passed|failed|skipped|error)", line)}


@pytest.fixture
def tree(imported, pytester, monkeypatch):
    """A tree in which pytest runs within this process, but for its workers."""
    for name in [name for name in os.environ if name.startswith("PYTEST_XDIST")]:
        monkeypatch.delenv(name)  # these tests may run on a worker themselves
    pretend.apply(monkeypatch.setattr)
    tree = Inline(pytester)
    for method in METHODS:
        tree.candidate(method, "def twice(input): ...", "twice")
    (tree.path / "tasks" / "activation").mkdir(parents=True)
    (tree.path / FILE).write_text(TASK)
    (tree.path / "test_own.py").write_text(OWN)
    (tree.path / "conftest.py").write_text(Path(pretend.__file__).read_text())
    return tree


both = pytest.mark.parametrize("workers", ["-n0", "-n2"])


def test_the_clock_shows_what_it_is_told():
    clock, found, times = DeviceClock(), [], [1.25e-5, 1.3e-5, 3.1e-7, 7.0]

    class Fixture:
        def pedantic(self, target, setup, rounds):
            for _ in range(rounds + 1):  # a profile asks once more
                arguments, keywords = setup()
                start = clock()
                target(*arguments, **keywords)
                found.append(clock() - start)

    clock.play(Fixture(), times)
    assert found == [*times, times[0]]
    with pytest.raises(RuntimeError, match="stands still"):
        clock()


@both
def test_everything(tree, workers, tmp_path):
    """One candidate is wrong at one size, and that is all there is to complain of."""
    result = run(tree, workers, "--benchmark-json=all.json", "--benchmark-autosave")
    assert outcomes(result) == {"failed": 1, "passed": 6 + 7 + 6, "skipped": 1}
    assert not OF_XDIST.search(result.text)
    assert "fixture was not used" not in result.text
    assert names(tree, "all.json") == TIMED + OWN_NAMES
    for one in benchmarks(tree, "all.json")[: len(TIMED)]:
        check_times(one)
    check_own({one["name"]: one for one in benchmarks(tree, "all.json")[len(TIMED) :]})
    check_summary(result)
    assert "benchmark 'activation/twice': 7 tests" in result.text
    assert len(list((tree.path / "store").rglob("*.json"))) == 1
    read = [sys.executable, "-m", "pytest_benchmark", "compare", str(tree.path / "all.json")]
    done = subprocess.run(read, cwd=tmp_path, capture_output=True, text=True)
    assert all(name.partition("::")[2] in done.stdout for name in TIMED), done.stderr


def check_times(one):
    info, method = one["extra_info"], one["params"]["candidate"]
    assert one["stats"]["data"] == pretend.seconds(method)
    assert one["stats"]["rounds"] == len(pretend.EAGER)
    assert one["options"]["timer"] == "device_clock"
    assert one["group"] == "activation/twice"
    assert one["params"] == {"candidate": info["method"], "size": info["size"]}
    assert (info["task"], info["category"], info["device_name"]) == ("twice", "activation", "Pretend GPU")
    assert info["speedup"] == {"eager": 1.0, "slow": 0.5}.get(method, 2.0)
    assert info["low"] < info["speedup"] < info["high"]
    assert (info["iou"], info["mfu"], info["efficiency"], info["bound"]) == (0.4, 0.1, 0.4, "memory")
    assert (info["mode"], info["round"], info["sample"]) == ("graph", None, None)
    assert info["versions"] == {"suite": "1", "torch": "2", "triton": "3", "python": "3"}


def check_own(own):
    """A user's tests keep pytest-benchmark's timer, unless they play times themselves."""
    assert own["test_sum"]["options"]["timer"] == "perf_counter"
    assert own["test_sum"]["stats"]["mean"] > 0
    assert own["test_candidate[twice:slow]"]["params"] == {"candidate": "twice:slow"}
    played = own["test_played"]
    assert played["stats"]["data"] == [0.25, 0.5, 0.125]
    assert (played["group"], played["options"]["timer"]) == ("mine", "device_clock")
    assert played["extra_info"] == {"note": "by hand"}


def check_summary(result):
    """PyTorch's rows and the candidate that is wrong at a size don't count."""
    table = [re.split(r"\s{2,}", line) for line in result.text.splitlines()]
    assert ["method", "category", "timed", "faster than eager", "median speedup", "median efficiency"] in table
    assert ["deepseek-r1", "activation", "1", "1/1 100.0%", "2.00x", "40.0%"] in table
    assert ["slow", "activation", "1", "0/1 0.0%", "0.50x", "40.0%"] in table
    assert {row[0] for row in table if len(row) == 6} == {"method", "deepseek-r1", "slow"}


@both
def test_compare_and_compare_fail(tree, workers, monkeypatch):
    compare = ("--benchmark-compare", "--benchmark-compare-fail=mean:5%", "-k", "performs and not wrong")
    run(tree, "--benchmark-autosave", FILE)
    check_compared(run(tree, workers, *compare), regressed=False)
    monkeypatch.setenv("TIMES", "1.06")
    check_compared(run(tree, workers, *compare), regressed=True)


def check_compared(result, regressed):
    assert (result.status != 0) is regressed, result.text
    assert len(re.findall(r"^test_performs.*\(NOW\)", result.text, re.MULTILINE)) == 6
    assert len(re.findall(r"^test_performs.*\(0001", result.text, re.MULTILINE)) == 6
    assert len(re.findall(r"test_performs.* - .*'mean' has failed", result.text)) == (6 if regressed else 0)
    assert ("Performance has regressed" in result.text) is regressed
    assert not OF_XDIST.search(result.text)
    check_summary(result)


@both
def test_switches(tree, workers):
    """--benchmark-only (which overrides -skip), -skip, -disable."""
    only = run(tree, workers, "--benchmark-only", "--benchmark-skip", "--benchmark-json=only.json")
    assert outcomes(only) == {"failed": 1, "passed": 7 + 2 + 3, "skipped": 6 + 2}
    assert names(tree, "only.json") == TIMED + OWN_NAMES
    skip = run(tree, workers, "--benchmark-skip", "--benchmark-json=skip.json")
    assert outcomes(skip) == {"passed": 6 + 1, "skipped": 8 + 2 + 3 + 1}
    disable = run(tree, workers, "--benchmark-disable", "--benchmark-json=disable.json")
    assert outcomes(disable) == {"failed": 1, "passed": 6 + 7 + 6, "skipped": 1}
    written = [path for path in map(tree.path.joinpath, ("skip.json", "disable.json")) if path.exists()]
    assert not any(path.stat().st_size for path in written)
    assert not any(OF_XDIST.search(result.text) for result in (only, skip, disable))


def test_only_and_disabled_is_refused(tree):
    for workers in ("-n0", "-n2"):
        said = tree.complaint("--kbx-tasks=tasks", workers, "--benchmark-only", "--benchmark-disable")
        assert "Can't have both --benchmark-only and --benchmark-disable" in said


def test_a_dead_worker_takes_no_result_along(tree, monkeypatch):
    monkeypatch.setenv("DEADLY", "1")
    choice = "performs and not wrong or deadly"
    result = run(tree, "-n1", "-k", choice, "--max-worker-restart=0", "--benchmark-json=deadly.json")
    assert "crashed while running 'test_own.py::test_zzz_deadly'" in result.text
    assert names(tree, "deadly.json") == TIMED[:-1]


def test_without_the_plugins(tree):
    result = run(tree, "-p", "no:xdist", "--benchmark-json=all.json", FILE)
    assert outcomes(result) == {"failed": 1, "passed": 6 + 7}
    assert names(tree, "all.json") == TIMED
    for more in (["-n1"], ["-p", "no:xdist"]):
        result = tree.run("--kbx-tasks=tasks", "-p", "no:benchmark", *more, FILE)
        assert outcomes(result) == {"failed": 1, "passed": 6 + 7}
        check_summary(result)


def test_nothing_is_measured_with_the_clock_itself(tree):
    (tree.path / "test_own.py").write_text("def test_both(device_times, benchmark):\n    benchmark(len, [])\n")
    result = run(tree, "test_own.py")
    assert "RuntimeError: benchmark() was called in a test that asks for device_times" in result.text


def test_profiles(tree):
    result = run(tree, "--benchmark-cprofile=tottime", FILE, "-k", "eager")
    assert outcomes(result) == {"passed": 2}


def test_a_run_without_tasks_is_left_alone(tree):
    """Another project's benchmarks are switched off under xdist, as pytest-benchmark does it."""
    (tree.path / "empty").mkdir()
    own = "def test_off(benchmark):\n    assert benchmark.disabled\n    benchmark(len, [])\n"
    (tree.path / "test_own.py").write_text(own)
    result = tree.run("--kbx-tasks=empty", "-n1", "test_own.py")
    assert outcomes(result) == {"passed": 1}


@pytest.mark.skipif(not find_spec("pygal"), reason="pytest-benchmark draws with pygal")
def test_histogram(tree):
    """In a process of its own: what pygal imports replaces the finder of installed packages."""
    command = tree.command("--kbx-tasks=tasks", *FAST, "-n1", "--benchmark-histogram=plot", ".")
    subprocess.run(command, cwd=tree.path, env=tree.environment(), capture_output=True)
    assert {"plot-activation_twice.svg", "plot-mine.svg"} <= {path.name for path in tree.path.glob("plot*.svg")}
