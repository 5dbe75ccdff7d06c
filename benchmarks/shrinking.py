"""How small is the case that a failure reports, how soon is it found, and does the printed command repeat it?

    python benchmarks/mutants.py make mutants.jsonl
    python benchmarks/shrinking.py mutants.jsonl [--count 100] [--seed 0] [--effort standard] [--records FILE]

Judges `count` of the faulty kernels, of different tasks first, and looks at those that fail in stage two. Wanted: the
median over them of the longest axis is at most one block and one more; no more than 60 runs after the first failure;
and the command that the failure prints gives the same verdict and the same worst element. A kernel's block is taken
for the smallest power of two from 64 on in its source, for most choose among several by the size of their input. The
exit status is 1 if one of the three is missed.
"""

import argparse
import ast
import json
import random
import re
import statistics
import subprocess
import sys
import tempfile
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
RUNS = 60  # after the first failure
LEAST_BLOCK = 64  # what is smaller may be a number of warps, of stages, or a rank


def pytest_command() -> list[str]:
    installed = any(point.value == "pytest_kernelbenchx.plugin" for point in entry_points(group="pytest11"))
    plugin = [] if installed else ["-p", "pytest_kernelbenchx.plugin"]
    return [sys.executable, "-m", "pytest", *plugin, "-p", "no:cacheprovider"]


def block(source: str) -> int:
    """The smallest of the blocks that the source may choose among: powers of two from `LEAST_BLOCK`."""
    constants = [node.value for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Constant)]
    return min((n for n in constants if type(n) is int and n >= LEAST_BLOCK and n & (n - 1) == 0), default=LEAST_BLOCK)


def longest_axis(case: dict[str, Any]) -> int:
    """Of the tensors of a case."""
    lengths = [case["axes"][name] for name in case["axes"]]
    return max((n for value in lengths for n in (value if isinstance(value, list) else [value])), default=0)


def chosen(rows: list[dict[str, Any]], count: int, seed: int) -> list[dict[str, Any]]:
    """Some rows, as many tasks as possible."""
    random.Random(seed).shuffle(rows)
    turn: dict[str, int] = {}
    for row in rows:
        row["turn"] = turn[row["task"]] = turn.get(row["task"], -1) + 1
    return sorted(sorted(rows, key=lambda row: row["turn"])[:count], key=lambda row: row["task"])


def judge(rows: list[dict[str, Any]], options: argparse.Namespace, folder: Path) -> tuple[list[dict], str]:
    """Records of stage two that failed on a case, and what pytest printed."""
    mutants, records = folder / "chosen.jsonl", options.records or folder / "records.jsonl"
    mutants.write_text("".join(json.dumps(row) + "\n" for row in rows))
    records.unlink(missing_ok=True)
    arguments = [f"--kbx-candidates={mutants}", f"--kbx-effort={options.effort}", f"--kbx-results={records.resolve()}"]
    done = subprocess.run(
        [*pytest_command(), "-q", "-m", "compiles or correct", *arguments], cwd=ROOT, capture_output=True, text=True
    )
    found = [json.loads(line) for line in records.read_text().splitlines()] if records.exists() else []
    failed = [r for r in found if r["stage"] == "correct" and r["kind"] == "failure" and "case" in r["facts"]]
    return failed, done.stdout


def commands(printed: str) -> dict[str, str]:
    """The command that stage two's failure prints, by label: `relu[mutant:s0]`."""
    found = {}
    for label, command in re.findall(r"^[A-Z_]+: (\w+\[\S+\]): [\s\S]*?^reproduce: (.*)$", printed, re.MULTILINE):
        if "test_correct" in command:
            found[label] = command
    return found


def worst(record: dict[str, Any]) -> tuple[Any, ...]:
    """What must be the same when a failure is repeated."""
    lines = [line for line in record["details"].splitlines() if line.startswith("worst at")]
    return record["verdict"], record["facts"].get("index"), lines[:1]


def repeated(command: str, folder: Path) -> tuple[Any, ...] | None:
    """The verdict and the worst element that a printed command gives; None if it gives none."""
    records = folder / "again.jsonl"
    records.unlink(missing_ok=True)
    prefix = subprocess.list2cmdline(pytest_command())
    line = f"{command.replace('pytest', prefix, 1)} -q --kbx-results={records}"
    subprocess.run(line, shell=True, cwd=ROOT, capture_output=True)
    found = [json.loads(line) for line in records.read_text().splitlines()] if records.exists() else []
    return next((worst(r) for r in found if r["stage"] == "correct" and r["verdict"] != "SKIPPED"), None)


def rows_of(failed: list[dict], sources: dict, printed: str, folder: Path) -> list[dict[str, Any]]:
    """What is reported of every failure."""
    by_label, made = commands(printed), []
    for record in failed:
        key = record["task"], record["sample"]
        command = by_label.get(f"{record['task']}[{record['method']}:s{record['sample']}]")
        case, size = json.loads(record["facts"]["case"]), block(sources[key]["code"])
        made.append(
            {
                "kernel": f"{record['task']} {sources[key]['operator']}",
                "case": record["facts"]["call"],
                "longest": longest_axis(case),
                "block": size,
                "within": longest_axis(case) <= size + 1,
                "runs": record["facts"]["after_failure"],
                "same": command is not None and repeated(command, folder) == worst(record),
                "hint": next((line[6:] for line in record["details"].splitlines() if line.startswith("hint: ")), ""),
            }
        )
    return made


def report(made: list[dict[str, Any]]) -> int:
    print("| task, fault | case | longest axis | block | runs | repeated |\n|---|---|---|---|---|---|")
    for row in made:
        told = f"{row['longest']} | {row['block']} | {row['runs']} | {'yes' if row['same'] else 'NO'}"
        print(f"| {row['kernel']} | `{row['case'][:90]}` | {told} |")
    runs, longest = [row["runs"] for row in made], [row["longest"] for row in made]
    ratio = statistics.median(row["longest"] / (row["block"] + 1) for row in made)
    same, within = sum(row["same"] for row in made), sum(row["within"] for row in made)
    print(f"\n{len(made)} failures. Longest axis: median {statistics.median(longest):g}, most {max(longest)}; median")
    print(f"{ratio:.2g} of a block and one; {within} of {len(made)} are within it. Runs after the first failure:")
    print(f"median {statistics.median(runs):g}, most {max(runs)}. {same} of {len(made)} commands repeat their failure.")
    print(f"{sum(bool(row['hint']) for row in made)} have a hint.")
    return int(ratio > 1 or max(runs) > RUNS or same < len(made))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("mutants", type=Path)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--effort", default="standard")
    parser.add_argument("--records", type=Path, help="keep the records here")
    options = parser.parse_args()
    rows = chosen([json.loads(line) for line in options.mutants.read_text().splitlines()], options.count, options.seed)
    with tempfile.TemporaryDirectory() as name:
        failed, printed = judge(rows, options, Path(name))
        sources = {(row["task"], row["sample"]): row for row in rows}
        return report(rows_of(failed, sources, printed, Path(name)))


if __name__ == "__main__":
    sys.exit(main())
