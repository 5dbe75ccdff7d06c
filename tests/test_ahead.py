"""Several processes answer one candidate's cases: the verdict is the one that a single process leads to."""

import subprocess
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest

from conftest import RELU, ROOT
from pytest_kernelbenchx.candidate import Candidate
from pytest_kernelbenchx.judge.ahead import Several
from pytest_kernelbenchx.judge.caller import Caller
from pytest_kernelbenchx.judge.trial import Trial
from pytest_kernelbenchx.judge.verdicts import OutcomeError, Verdict
from pytest_kernelbenchx.loading import load_task
from pytest_kernelbenchx.performance.lease import NoLease
from pytest_kernelbenchx.sandbox import processes, server
from pytest_kernelbenchx.sandbox.host import Sandbox, write_compiler
from pytest_kernelbenchx.settings import PROCESSES
from pytest_kernelbenchx.settings import processes as settled

RIGHT = RELU
TAIL = RELU.replace("triton.cdiv(flat.numel(), 1024)", "max(1, flat.numel() // 1024)")
HANGS = RELU.replace("    out = ", "    while flat.numel() == 1: pass\n    out = ", 1)
LOST = RELU.replace("    out = ", "    import os\n    if flat.numel() == 1: os.kill(os.getppid(), 9)\n    out = ", 1)
COUNTED = ("cases", "cases_sha256", "without_kernel", "kinds", "launches", "errors", "rejected_by_where", "case")


@pytest.fixture(scope="module")
def sandbox():
    with Sandbox("cpu") as box:
        yield box


def judged(sandbox, source, count, limit=60.0):
    """The outcome of stage two with so many processes, and the process that is left."""
    task = load_task(ROOT / "tasks" / "activation" / "relu.py")
    made = Candidate("m", "activation", task.name, None, None, source, "", Path("relu.py"))
    caller = Caller(task, made, sandbox, NoLease())
    caller.start(limit)
    trial = Trial(task, caller, SimpleNamespace(device="cpu", effort="quick", seed=0, processes=count))
    try:
        return trial.run()
    except OutcomeError as error:
        return error.outcome
    finally:
        caller.forget()


@pytest.mark.parametrize(("source", "wanted"), [(RIGHT, Verdict.PASSED), (TAIL, Verdict.WRONG_VALUES)])
def test_three_processes_find_what_one_finds(sandbox, source, wanted):
    alone, together = (judged(sandbox, source, count) for count in (1, 3))
    assert alone.verdict is together.verdict is wanted
    assert together.reason == alone.reason
    assert {name: together.facts.get(name) for name in COUNTED} == {name: alone.facts.get(name) for name in COUNTED}


def test_none_of_them_is_left_when_one_hangs(sandbox):
    outcome = judged(sandbox, HANGS, 3, limit=5.0)
    assert outcome.verdict is Verdict.TIMEOUT
    assert not processes.descendants(sandbox._server.pid, processes.running())
    assert not list(sandbox._server.root.glob("kernels-*"))


def test_one_that_kills_the_process_they_come_from_cannot_blame_its_twins(monkeypatch):
    without = "zygote.child.landlock.restrict = lambda *_: []\nzygote.main"
    monkeypatch.setattr(server, "BOOT", server.BOOT.replace("zygote.main", without))  # it could not kill it otherwise
    with Sandbox("cpu") as bare:
        assert judged(bare, LOST, 3).verdict is Verdict.TAMPERED


class Answering:
    """A stand-in for a process; the gates say when a call may end."""

    def __init__(self, gates, log, name=0):
        self.gates, self.log, self.name = gates, log, name
        self.made = self.launches = 0

    def twin(self):
        self.made += 1
        return Answering(self.gates, self.log, self.made)

    def load(self):
        if self.name == 0:
            raise ValueError("the call will tell")

    def call(self, case, expected, turn):
        assert turn == case
        self.gates[case].wait()
        self.log.append((self.name, case))
        return case

    def interrupt(self):
        for gate in self.gates.values():
            gate.set()

    def close(self):
        self.log.append((self.name, "closed"))

    def absorb(self, twin):
        self.launches += 1


def test_answers_are_taken_in_the_order_of_the_cases_however_they_come():
    gates = {case: threading.Event() for case in range(4)}
    for case in (3, 2, 1, 0):
        threading.Timer(0.05 * (4 - case), gates[case].set).start()
    first = Answering(gates, log := [])
    with Several(first, 2) as several:
        taken = [(asked.case, asked.reply(), asked.caller.name) for asked in several.answers(range(4), lambda c: c)]
    assert [(case, reply) for case, reply, _ in taken] == [(case, case) for case in range(4)]
    assert {(name, case) for case, _, name in taken} == {entry for entry in log if entry[1] != "closed"}
    assert {name for _, _, name in taken} == {0, 1}
    assert log[-1] == (1, "closed")
    assert first.launches == 1


def test_what_waits_is_left_when_nobody_wants_it():
    gates = {case: threading.Event() for case in range(100)}
    gates[0].set()
    with Several(Answering(gates, log := []), 2) as several:
        assert next(iter(several.answers(range(100), lambda case: case))).case == 0
    assert len([entry for entry in log if entry[1] != "closed"]) <= 3  # what was being answered at the end


@pytest.mark.parametrize(("device", "workers", "share"), [("cpu", 1, 0), ("cuda", 1, 1), ("cuda", 4, 4)])
def test_a_candidate_has_as_many_processes_as_its_worker_has_cores(monkeypatch, device, workers, share):
    monkeypatch.setattr("os.sched_getaffinity", lambda _: range(8))
    assert settled(device, workers) == (min(PROCESSES, 8 // share) if share else 1)


def test_a_child_that_is_not_timed_compiles_c_without_optimising(sandbox, tmp_path):
    source = tmp_path / "which.c"
    source.write_text("#ifdef __OPTIMIZE__\nint optimised;\n#else\nint plain;\n#endif\n")
    compiler = write_compiler(tmp_path / "cc")
    subprocess.run([compiler, "-O3", "-c", str(source), "-o", str(tmp_path / "which.o")], check=True)
    assert b"plain" in (tmp_path / "which.o").read_bytes()
    probe = "import os\ndef f(): return [os.environ['TRITON_CACHE_DIR'], os.environ['TMPDIR']]"
    for shared in (None, "kernels-x"):
        child = sandbox.child(shared)
        child.load("kernel.py", probe, ["f"], 60.0)
        kernels, private = child.call([], {}, seed=0, timeout=60.0).value
        child.kill()
        assert (Path(kernels).parents[1] == Path(private).parent) is (shared is None)
        assert Path(kernels).name == (shared or "triton")


CROWDED = RELU.replace(
    "    out = ",
    "    import os, torch\n"
    "    if flat.numel() == 1 and len(os.listdir(os.environ['TRITON_CACHE_DIR'])) < 99:\n"
    "        raise torch.OutOfMemoryError('CUDA out of memory')\n"
    "    out = ",
    1,
)  # fmt: skip


def test_memory_that_its_own_twins_took_is_no_fault_of_a_candidate(sandbox, monkeypatch):
    """It runs out as long as there are others."""
    assert judged(sandbox, CROWDED, 1).verdict is Verdict.OUT_OF_MEMORY
    leave = Several.__exit__

    def fills(self, *error):
        leave(self, *error)
        for number in range(99):
            (sandbox._server.root / self.callers[0].compiled / str(number)).touch()

    monkeypatch.setattr(Several, "__exit__", fills)
    assert judged(sandbox, CROWDED, 3).verdict is Verdict.PASSED
