"""What each layer between a candidate and the judge costs: milliseconds per candidate, CPU time and wall time.

    python benchmarks/integrity_cost.py [--device cpu|cuda] [--effort quick] [--method expert] [TASK ...]

Goes through stages one and two of the candidates of some tasks, layer by layer, and prints a Markdown table of medians
over the tasks. CPU time is that of the judge, the zygote and the candidate's process together, and hardly depends on
what else the machine does; on a GPU the wall time says more. `cases` is what has to be done anyway: all cases of stage
two, judged. What a fork pays in its first milliseconds (limits, Landlock, the filter of system calls) is measured apart
in forks of this process, and the witness by one entry of its log times the launches of a candidate.
"""

import argparse
import contextlib
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from pytest_kernelbenchx.candidates import discover, entry_names
from pytest_kernelbenchx.judge import policy
from pytest_kernelbenchx.judge.caller import Caller
from pytest_kernelbenchx.judge.delegation import profiled
from pytest_kernelbenchx.judge.dependence import judge_dependence
from pytest_kernelbenchx.judge.freshness import FULL
from pytest_kernelbenchx.judge.oracle import expect
from pytest_kernelbenchx.judge.steadiness import judge_steadiness
from pytest_kernelbenchx.judge.trial import Trial
from pytest_kernelbenchx.judge.verdicts import OutcomeError
from pytest_kernelbenchx.judge.watched import chosen, watch
from pytest_kernelbenchx.loading import load_task, task_files
from pytest_kernelbenchx.performance.lease import NoLease
from pytest_kernelbenchx.sandbox import child, landlock, processes, seccomp
from pytest_kernelbenchx.sandbox.host import Sandbox
from pytest_kernelbenchx.sandbox.witness import Log
from pytest_kernelbenchx.settings import device

ROOT = Path(__file__).resolve().parent.parent
TASKS = ["relu", "softmax", "sum", "batch_norm", "matmul", "conv2d", "binary_cross_entropy", "adaptive_avg_pool2d"]
TASKS += ["index_select", "cholesky", "matmul_w8a8"]
CALLS = {
    "one call": None,
    "one call, operators watched": {"fresh": FULL, "memory": False},
    "one call, operators and memory watched": {"fresh": FULL},
}
REPEATS = 20
Cost = tuple[float, float]  # CPU and wall seconds


class Meter:
    """CPU time of this process, and of those of the sandbox while they live."""

    def __init__(self, box: Sandbox):
        self.box = box
        self.rows: dict[str, list[Cost]] = {}

    def cpu(self) -> float:
        return time.process_time() + sum(map(on_cpu, processes.descendants(os.getpid(), processes.running())))

    @contextlib.contextmanager
    def of(self, layer: str, clock: Callable[[], float] | None = None) -> Iterator[None]:
        clock = clock or self.cpu
        cpu, wall = clock(), time.perf_counter()
        yield
        self.rows.setdefault(layer, []).append((clock() - cpu, time.perf_counter() - wall))


def on_cpu(pid: int) -> float:
    """Seconds that all threads of a process have been on a CPU; 0 if it has gone (see proc(5), schedstat)."""
    spent = 0.0
    with contextlib.suppress(OSError):
        for thread in Path(f"/proc/{pid}/task").iterdir():
            spent += int((thread / "schedstat").read_text().split()[0]) / 1e9
    return spent


def in_fork(action: Callable[[], Any]) -> Cost:
    """What an action costs in a fork of this process, which it ends."""
    reading, writing = os.pipe()
    if (pid := os.fork()) == 0:
        cpu, wall = time.process_time(), time.perf_counter()
        action()
        os.write(writing, f"{time.process_time() - cpu} {time.perf_counter() - wall}".encode())
        os._exit(0)
    os.waitpid(pid, 0)
    os.close(writing)
    with open(reading) as answer:
        cpu, wall = map(float, answer.read().split())
    return cpu, wall


def confinement(rows: dict[str, list[Cost]]) -> None:
    """The layers of a fork, each in forks of its own."""

    def restrict() -> None:
        landlock.restrict(child.readable(), [Path(tempfile.gettempdir())])

    for _ in range(REPEATS):
        rows.setdefault("session, limits", []).append(in_fork(lambda: processes.confine(os.getppid(), None)))
        rows.setdefault("Landlock", []).append(in_fork(lambda: (processes.confine(os.getppid(), None), restrict())))
        both = in_fork(lambda: (processes.confine(os.getppid(), None), seccomp.restrict()))
        rows.setdefault("system call filter", []).append(both)
    base = [statistics.median(cost[n] for cost in rows["session, limits"]) for n in (0, 1)]
    for layer in ("Landlock", "system call filter"):
        rows[layer] = [(max(0.0, cpu - base[0]), max(0.0, wall - base[1])) for cpu, wall in rows[layer]]


def witness_seconds() -> float:
    """One launch in the log."""
    log, count = Log(__file__), 20_000
    start = time.process_time()
    for _ in range(count):
        log.add(witness_seconds, [1, 1, 1])
    return (time.process_time() - start) / count


def measure(meter: Meter, task: Any, candidate: Any, settings: Any, launch: float) -> None:
    """All layers of one candidate."""
    caller = Caller(task, candidate, meter.box, NoLease())
    caller.start(600.0)
    with meter.of("policy"):
        tree = policy.parse(candidate.source)
        policy.examine(tree, candidate.source, task.forbid, entry_names(candidate, task.name, task.aliases))
    with meter.of("process: fork, confine, import"):
        caller.load()
    trial = Trial(task, caller, settings)
    with meter.of("cases"):
        trial.run()
    passed = trial.passed()
    seconds = launch * sum(caller.launches.values())
    meter.rows.setdefault("launch witness", []).append((seconds, seconds))
    with meter.of("steadiness"):
        judge_steadiness(task, caller, passed)
    with meter.of("kernels switched off"):
        judge_dependence(task, caller, passed)
    with meter.of("watched calls"):
        watch(task, caller, chosen(task, passed))
    for case in chosen(task, passed)[:1]:
        expected = expect(task, case)
        for name, audit in CALLS.items():
            caller.call(case, expected, audit=audit)
            with meter.of(name):
                caller.call(case, expected, audit=audit)
    if settings.device == "cuda":
        with meter.of("profiler"):
            profiled(task, caller, passed)
    with meter.of("kill", time.process_time):
        caller.forget()


def table(rows: dict[str, list[Cost]]) -> Iterator[str]:
    """Medians, in milliseconds, and as a share of those of the cases."""
    whole = statistics.median(cpu for cpu, _ in rows["cases"])
    yield "| layer | CPU ms | wall ms | of the CPU time of the cases |"
    yield "|---|---|---|---|"
    for layer, costs in rows.items():
        cpu, wall = (statistics.median(cost[n] for cost in costs) for n in (0, 1))
        yield f"| {layer} | {1000 * cpu:.2f} | {1000 * wall:.2f} | {cpu / whole:.1%} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tasks", nargs="*", metavar="TASK", default=TASKS)
    parser.add_argument("--device", choices=("auto", "cpu", "cuda"), default="auto")
    parser.add_argument("--effort", choices=("quick", "standard", "thorough"), default="quick")
    parser.add_argument("--method", default="expert")
    options = parser.parse_args()
    paths = {path.stem: path for path in task_files(ROOT / "tasks")}
    found = discover(ROOT / "candidates", {n: p.parent.name for n, p in paths.items()}, methods=(options.method,))
    candidates = {candidate.task: candidate for candidate in found.candidates}
    where = device(options.device)
    settings = SimpleNamespace(device=where, effort=options.effort, seed=0, processes=1)
    confined: dict[str, list[Cost]] = {}
    confinement(confined)
    with Sandbox(where) as box:
        box.start()
        meter, done = Meter(box), []
        for name in options.tasks:
            try:
                measure(meter, load_task(paths[name]), candidates[name], settings, witness_seconds())
                done.append(name)
            except OutcomeError as error:
                print(f"{name}: {error}")
    print(f"{where}, {options.effort} effort, {len(done)} candidates of {options.method}: {', '.join(done)}\n")
    print("\n".join(table({**confined, **meter.rows})))


if __name__ == "__main__":
    main()
