"""Does one seed give the same records on one worker and on several, and twice?

    python benchmarks/determinism.py [--method expert] [--effort quick] [--seed 0] [--workers 1,4] [-- PYTEST ARGUMENTS]

Judges all candidates of a method in stages one and two, twice for each number of workers, and compares the records,
all but the times: verdicts, cases, worst elements, hints, errors, kernels. Prints the differences; the exit status
is 1 if there is one. Candidates whose time ran out are listed apart: what fits into a time limit is no matter of seeds.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from shrinking import ROOT, pytest_command

TIMES = ("time", "seconds", "run")
MEASURED = ("seconds_in", "delegated_share", "delegated")
SHOWN = 40  # differences
Records = dict[tuple[str, ...], dict[str, Any]]


def judged(options: argparse.Namespace, workers: str) -> Records:
    """Records by candidate and stage, without what says when and how long."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "records.jsonl")
        chosen = [f"--kbx-method={options.method}", f"--kbx-effort={options.effort}", f"--kbx-seed={options.seed}"]
        arguments = ["-q", "-m", "compiles or correct", "-n", workers, f"--kbx-results={file}", *options.arguments]
        subprocess.run([*pytest_command(), *chosen, *arguments], cwd=ROOT, stdout=subprocess.DEVNULL)
        records = [json.loads(line) for line in file.read_text().splitlines()]
    found = {}
    for record in records:
        measured = MEASURED if record["facts"].get("delegated_by") == "device time" else MEASURED[:1]
        facts = {key: value for key, value in record["facts"].items() if key not in measured}
        kept = {key: value for key, value in record.items() if key not in TIMES}
        name = record["task"], record["method"], str(record["round"]), str(record["sample"]), record["stage"]
        found[name] = {**kept, "facts": facts}
    return found


def limited(record: dict[str, Any]) -> bool:
    """Whether time, or what this machine cannot run, decided."""
    return record["verdict"] in ("TIMEOUT", "NOT_JUDGED")


def differences(first: Records, other: Records) -> list[str]:
    """One line for each record that is not the same, or is missing."""
    lines = []
    for name in sorted({*first, *other}):
        a, b = first.get(name), other.get(name)
        if a is None or b is None:
            lines.append(f"{' '.join(name)}: only in one run")
        elif a != b and not (limited(a) or limited(b)):
            flat = [{**record, **record["facts"], "facts": None} for record in (a, b)]
            keys = [key for key in sorted({*flat[0], *flat[1]}) if flat[0].get(key) != flat[1].get(key)]
            shown = "; ".join(f"{key}: {str(flat[0].get(key))[:80]} and {str(flat[1].get(key))[:80]}" for key in keys)
            lines.append(f"{' '.join(name)}: {shown}")
    return lines


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--method", default="expert")
    parser.add_argument("--effort", default="quick")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", default="1,4")
    parser.add_argument("arguments", nargs="*", help="for pytest")
    options = parser.parse_args()
    runs = [judged(options, workers) for workers in 2 * options.workers.split(",")]
    lines = [line for other in runs[1:] for line in differences(runs[0], other)]
    print("\n".join(lines[:SHOWN]))
    apart = {name for run in runs for name, record in run.items() if limited(record)}
    print(f"{len(runs)} runs of {len(runs[0])} records: {len(lines)} differences; {len(apart)} are limited by time.")
    return int(bool(lines) or not runs[0])


if __name__ == "__main__":
    sys.exit(main())
