"""Many candidates in one run, some of them hostile: is every verdict right, is nothing lost or left, is memory flat?

    python benchmarks/soak.py [--count 1000] [--workers 2] [--timeout 20] [--seed 0] [--hostile 0.1]

Writes so many candidates for relu as JSONL, one in ten hostile, runs pytest on them and watches it from outside.
Printed are verdicts by kind, times, the memory of pytest's processes over the run, and every breach; the exit status is
1 if there is one. Memory is that of pytest's own processes (proportional set size, so that shared pages count once).
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from shrinking import ROOT, pytest_command

KINDS = Path(__file__).with_name("soak_candidates.py")
GROWTH, LONG = 0.15, 300.0  # of a process' memory from the second fifth to the last; of runs so many seconds long
STEP = 1.0  # seconds between two looks
Watch = dict[int, list[tuple[float, int]]]


def kinds() -> tuple[dict[str, tuple[str, str]], dict[str, tuple[str, str]]]:
    """Ordinary and hostile candidates: source and verdict by kind."""
    from soak_candidates import HOSTILE, ORDINARY

    return ORDINARY, HOSTILE


def chosen(count: int, hostile: float, seed: int) -> list[str]:
    """The kind of every candidate: hostile ones in turn, spread by chance; every kind of both where there is room."""
    ordinary, bad = kinds()
    many = round(count * hostile)
    names = [list(bad)[n % len(bad)] for n in range(many)]
    names += [list(ordinary)[n % len(ordinary)] for n in range(count - many)]
    random.Random(seed).shuffle(names)
    return names


def write(file: Path, names: list[str]) -> None:
    """One candidate a line; each a sample of its own."""
    sources = {name: source for group in kinds() for name, (source, _) in group.items()}
    with file.open("w") as lines:
        for number, name in enumerate(names):
            source = f"# candidate {number}\n{sources[name]}"
            lines.write(json.dumps({"task": "relu", "code": source, "sample": number}) + "\n")


@dataclass
class Run:
    """What was seen of one run of pytest.

    Attributes:
        seconds: how long it took.
        memory: of each of pytest's processes, seconds since the start and bytes.
        records: that it has written.
        left: processes and directories that outlived it.
        text: what pytest printed at the end.
    """

    seconds: float = 0.0
    memory: Watch = field(default_factory=dict)
    records: list[dict[str, Any]] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    text: str = ""


def judged(folder: Path, options: argparse.Namespace) -> Run:
    """Run pytest on the candidates in a folder."""
    temporary, results = folder / "tmp", folder / "records.jsonl"
    temporary.mkdir()
    arguments = ["-q", "-n", str(options.workers), "-m", "not performs", "--kbx-device=cpu", "--kbx-effort=quick"]
    arguments += [f"--kbx-candidates={folder / 'soak.jsonl'}", f"--kbx-timeout={options.timeout}", "--kbx-memory=2"]
    command = [*pytest_command(), *arguments, f"--kbx-results={results}", f"--kbx-tasks={ROOT / 'tasks'}"]
    (folder / "pytest.ini").write_text("[pytest]\n")
    paths = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "TMPDIR": str(temporary), "PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1"}
    run, start = Run(), time.monotonic()
    with (folder / "output").open("w+") as output:
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=output, stderr=output)
        ended = threading.Event()
        watcher = threading.Thread(target=watch, args=(process.pid, run.memory, start, ended))
        watcher.start()
        process.wait()
        ended.set()
        watcher.join()
        run.seconds = time.monotonic() - start
        output.seek(0)
        run.text = output.read()[-2000:]
    run.left = [*processes_of(str(temporary)), *(f"directory {path.name}" for path in temporary.glob("kbx-*"))]
    run.records = [json.loads(line) for line in results.read_text().splitlines()] if results.exists() else []
    return run


def watch(pid: int, memory: Watch, start: float, ended: threading.Event) -> None:
    """Look at the memory of a pytest process and its workers until the run has ended."""
    while not ended.wait(STEP):
        for number in [pid, *children(pid)]:
            try:
                line = Path(f"/proc/{number}/cmdline").read_bytes()
                pages = Path(f"/proc/{number}/smaps_rollup").read_text().split("Pss:", 1)[1].split()[0]
            except (OSError, IndexError):
                continue
            if b"zygote" not in line:
                memory.setdefault(number, []).append((time.monotonic() - start, int(pages) << 10))


def children(pid: int) -> list[int]:
    try:
        return [int(word) for path in Path(f"/proc/{pid}/task").glob("*/children") for word in path.read_text().split()]
    except OSError:
        return []


def processes_of(marker: str) -> list[str]:
    """Processes whose environment or command line has the marker in it."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            text = (entry / "environ").read_bytes() + (entry / "cmdline").read_bytes()
        except OSError:
            continue
        if marker.encode() in text:
            found.append(f"process {entry.name}: {text[-200:]!r}")
    return found


def fifths(samples: list[tuple[float, int]]) -> list[float]:
    """MiB of a process, the median of every fifth of its life."""
    fifth = len(samples) // 5
    return [median(size for _, size in samples[n * fifth : (n + 1) * fifth]) / 2**20 for n in range(5)]


def growth(samples: list[tuple[float, int]]) -> float:
    """From the second fifth of its life to the last, as a share: in the first, it imports."""
    sizes = fifths(samples)
    return sizes[-1] / sizes[1] - 1


def breaches(run: Run, names: list[str]) -> list[str]:
    """What is not as it must be."""
    wanted = {name: verdict for group in kinds() for name, (_, verdict) in group.items()}
    found, got = list(run.left), {(r["sample"], r["stage"]): r["verdict"] for r in run.records}
    if len(run.records) != len(got):
        found.append(f"{len(run.records) - len(got)} records were written twice")
    for number, name in enumerate(names):
        verdicts = [got.get((number, stage)) for stage in ("compiles", "correct")]
        if None in verdicts:
            found.append(f"candidate {number} ({name}): records were lost: {verdicts}")
        elif (verdict := ending(verdicts)) not in wanted[name].split(" or "):
            found.append(f"candidate {number} ({name}): {verdict}, wanted {wanted[name]}")
    for pid, samples in run.memory.items():
        if run.seconds >= LONG and len(samples) >= 50 and growth(samples) > GROWTH:
            found.append(f"process {pid}: memory has grown by {growth(samples):.0%}")
    return found


def ending(verdicts: list[str | None]) -> str | None:
    """Of the two stages, the verdict that ended the candidate's way."""
    first, second = verdicts
    return second if first == "PASSED" else first


def report(run: Run, names: list[str]) -> list[str]:
    """Verdicts by kind, and memory by process."""
    got = {(r["sample"], r["stage"]): r for r in run.records}
    lines = [f"{'kind':24}{'candidates':>11}{'seconds':>9}  verdicts"]
    for kind in sorted(set(names)):
        numbers = [number for number, name in enumerate(names) if name == kind]
        rows = [[got.get((number, stage)) for stage in ("compiles", "correct")] for number in numbers]
        counts = Counter(ending([row and row["verdict"] for row in pair]) for pair in rows)
        seconds = sum(row["seconds"] for pair in rows for row in pair if row)
        told = ", ".join(f"{verdict} {count}" for verdict, count in counts.items())
        lines.append(f"{kind:24}{len(numbers):>11}{seconds / len(numbers):>9.2f}  {told}")
    lines.append(f"{len(names)} candidates, {len(run.records)} records, {run.seconds:.0f} s")
    for pid, samples in run.memory.items():
        if len(samples) >= 5:
            sizes = " ".join(f"{size:.0f}" for size in fifths(samples))
            most = max(size for _, size in samples) / 2**20
            lines.append(f"pytest process {pid}: MiB by fifths of the run {sizes}, at most {most:.0f}")
    return lines


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--timeout", type=float, default=20.0, help="seconds that one call may take")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--hostile", type=float, default=0.1, help="share of hostile candidates")
    options = parser.parse_args(arguments)
    names = chosen(options.count, options.hostile, options.seed)
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder, "soak.jsonl"), names)
        run = judged(Path(folder), options)
    found = breaches(run, names)
    print("\n".join(report(run, names)))
    print("\n".join(f"BREACH: {line}" for line in found[:40]) or "no breach")
    if not run.records:
        print(run.text)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
